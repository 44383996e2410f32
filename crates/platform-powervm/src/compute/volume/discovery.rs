//! Jobs by which a VIOS finds a disk on its Fibre Channel ports, and forgets it.

use crate::client::{Group, Parameter, Path, Storage, VirtualIoServer};
use crate::compute::{Backing, Error, Host, Vios, Volume};
use crate::xml::{Document, Element};

/// What the tool of a VIOS says when the disk is usable: free, in use, on some of its paths.
const USABLE: [&str; 3] = ["3", "1", "8"];

/// A disk as a VIOS knows it.
#[derive(Debug)]
pub(super) struct Disk {
    pub(super) name: String,
    pub(super) device: String,
}

/// Lets a VIOS look for a volume on all paths between its ports and those of the storage server.
pub(super) async fn recover(host: &Host, vios: &Vios, volume: &Volume) -> Result<Option<Disk>, Error> {
    let target = Path::entry("VirtualIOServer", &vios.id);
    let request = request(&vios.ports, volume).to_string();
    let parameters = [("inputXML", Parameter::Xml(&request))];
    let results = host.client().run_job(&target, "LUARecovery", &parameters, host.jobs()).await;
    let attempt = || format!("looking for volume {} on {}", volume.id, vios.name);
    let results = results.map_err(|error| host.failed(attempt(), error))?;
    let answer = results.get("OutputXML").or_else(|| results.get("StdOut")).map(String::as_str).unwrap_or_default();
    Ok(disk(answer))
}

/// The disk in the answer of the tool, if it is usable.
fn disk(answer: &str) -> Option<Disk> {
    let document = Document::parse(answer.trim().as_bytes()).ok()?.root;
    let device = document.at("deviceList/device")?;
    let text = |name: &str| device.text_at(name).filter(|text| !text.is_empty());
    let usable = text("status").is_some_and(|status| USABLE.contains(&status.as_str()));
    let name = text("pvName").filter(|_| usable)?;
    Some(Disk { name, device: text("udid").unwrap_or_default() })
}

fn request(ports: &[String], volume: &Volume) -> Element {
    let lun = lun(volume.lun);
    let paths: Vec<(String, String)> = ports
        .iter()
        .flat_map(|port| {
            volume.targets.iter().map(|target| (port.to_lowercase(), target.to_lowercase().replace(':', "")))
        })
        .collect();
    let mut list = Element::new("itlList").with(Element::text_of("number", paths.len()));
    for (initiator, target) in &paths {
        list.push(
            Element::new("itl")
                .with(Element::text_of("Iwwpn", initiator))
                .with(Element::text_of("Twwpn", target))
                .with(Element::text_of("lua", &lun)),
        );
    }
    let device = Element::new("device")
        .with(Element::text_of("vendor", "OTHER"))
        .with(Element::text_of("deviceTag", 1))
        .with(list);
    Element::new("XML_LIST")
        .with(Element::new("general").with(Element::text_of("cmd_version", 3)).with(Element::text_of("version", "2.0")))
        .with(Element::text_of("reliableITL", false))
        .with(Element::new("deviceList").with(device))
}

/// A number of a volume as the platform writes it: in the first bytes of eight.
fn lun(number: u64) -> String {
    let digits = format!("{number:x}");
    let zeros = if digits.len() == 8 { 8 } else { 12 };
    format!("{digits}{}", "0".repeat(zeros))
}

/// Lets a VIOS forget a disk, if it shows it to nobody.
pub(in crate::compute) async fn forget(host: &Host, disk: &Backing) -> Result<(), Error> {
    if host.maps(&disk.vios, &disk.storage).await? {
        return Ok(());
    }
    remove(host, disk).await
}

/// Lets a VIOS forget a disk that it shows to nobody.
pub(super) async fn remove(host: &Host, disk: &Backing) -> Result<(), Error> {
    let Storage::PhysicalVolume(name) = &disk.storage else { return Ok(()) };
    let target = Path::entry("VirtualIOServer", &disk.vios);
    let failed = |error| host.failed(format!("letting a VIOS forget {name}"), error);
    match host.client().run_job(&target, "RemoveDevice", &[("devName", Parameter::Text(name))], host.jobs()).await {
        Ok(_) => Ok(()),
        Err(error @ crate::Error::Job { .. }) => {
            // That it is gone already is as good, but only the slow list of all disks says so.
            let entry = host.client().entry(&target.with(&[Group::ViosStorage])).await.map_err(failed)?;
            let known = VirtualIoServer::read(&entry).disks;
            if known.iter().any(|(known, _)| known == name) { Err(failed(error)) } else { Ok(()) }
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_volumes_fill_eight_bytes() {
        assert_eq!(lun(1), "1000000000000");
        assert_eq!(lun(0x4010_4020), "4010402000000000");
    }

    #[test]
    fn only_usable_disks_are_found() {
        let answer = |status: &str, name: &str| {
            format!(
                "<luaResult><deviceList><device><status>{status}</status>{name}<udid>01AB</udid></device></deviceList></luaResult>"
            )
        };
        let named = "<pvName>hdisk4</pvName>";
        assert_eq!(
            disk(&answer("3", named)).map(|disk| (disk.name, disk.device)),
            Some(("hdisk4".into(), "01AB".into()))
        );
        assert!(disk(&answer("8", named)).is_some());
        for text in [answer("4", named), answer("3", ""), String::new(), "<".to_owned()] {
            assert!(disk(&text).is_none(), "{text}");
        }
    }
}
