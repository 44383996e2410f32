//! Disks of storage servers: finding them, and letting go of them.

use super::fault::escaped;
use super::state::State;
use super::xml::Element;
use super::{fibre, storage};

/// Looks for the disk that a client describes by its paths, or for what is known about one that was found. The answer is the
/// XML of the VIOS's own tool.
pub(crate) fn recover(state: &mut State, host: usize, vios: &str, input: &str) -> Result<String, String> {
    let request = Element::parse(input.as_bytes()).map_err(|error| format!("VIOS01070001: {error}"))?;
    if request.name == "VIO" {
        return Ok(inventory(state, host, vios, input));
    }
    let device = request.at("deviceList/device").cloned().unwrap_or_default();
    let paths: Vec<&Element> = device.child("itlList").into_iter().flat_map(|list| list.all("itl")).collect();
    let Some(server) = state.object(host, vios) else {
        return Err("VIOS01070002: The VIOS does not exist.".to_owned());
    };
    let ports: Vec<String> = fibre::ports(&server.element).map(|port| port.text("WWPN").to_uppercase()).collect();
    let volumes = &state.hosts[host].volumes;
    let finds = |path: &&&Element| {
        ports.contains(&path.text("Iwwpn").to_uppercase())
            && volumes.iter().any(|volume| {
                volume.lun.trim_start_matches('0') == path.text("lua").trim_start_matches('0')
                    && volume.wwpns.contains(&path.text("Twwpn").to_uppercase())
            })
    };
    let good: Vec<&&Element> = paths.iter().filter(finds).collect();
    let Some(path) = good.first() else {
        return Ok(answer("4", None, "No device was found on any of the paths."));
    };
    let (lun, port) = (path.text("lua").trim_start_matches('0').to_owned(), path.text("Twwpn").to_uppercase());
    let complete = good.len() == paths.len();
    let volume = volumes
        .iter()
        .find(|volume| volume.lun.trim_start_matches('0') == lun && volume.wwpns.contains(&port))
        .cloned()
        .ok_or("VIOS01070003: The device is gone.")?;
    let words = ["volume", &volume.name];
    let wanted = storage::physical_volume("hdisk", volume.megabytes, &words, true);
    let udid = wanted.text("UniqueDeviceID").to_owned();
    let known = server.element.child("PhysicalVolumes").cloned().unwrap_or_default();
    let found = known.children.iter().find(|disk| disk.text("UniqueDeviceID") == udid);
    let name = found.map_or_else(
        || {
            let taken = |name: &String| known.children.iter().any(|disk| disk.text("VolumeName") == name);
            let mut names = (0..u32::MAX).map(|number| format!("hdisk{number}"));
            names.find(|name| !taken(name)).unwrap_or_default()
        },
        |disk| disk.text("VolumeName").to_owned(),
    );
    if found.is_none() {
        let mut disk = wanted;
        disk.set("VolumeName", &name);
        if let Some(vios) = state.object_mut(host, vios) {
            vios.element.child_mut("PhysicalVolumes").children.push(disk);
        }
        state.announce(host, "MODIFY_URI", vios, "PhysicalVolumes");
    }
    let disk = Element::record("PhysicalVolume", &[("VolumeName", &name)]);
    let status = match (storage::is_mapped(state, host, vios, &disk), complete) {
        (true, _) => "1",
        (false, true) => "3",
        (false, false) => "8",
    };
    Ok(answer(status, Some((&name, &udid)), "Found."))
}

fn answer(status: &str, device: Option<(&str, &str)>, message: &str) -> String {
    let device = device
        .map(|(name, udid)| format!("<pvName>{}</pvName><udid>{}</udid>", escaped(name), escaped(udid)))
        .unwrap_or_default();
    format!(
        "<luaResult><version>2.0</version><deviceList><device><deviceTag>1</deviceTag><status>{status}</status>{device}<msg><msgLevel>3</msgLevel><msgText>{message}</msgText></msg></device></deviceList></luaResult>"
    )
}

/// What is known about the disk whose device id stands in the request.
fn inventory(state: &State, host: usize, vios: &str, input: &str) -> String {
    let disks = state.object(host, vios).and_then(|vios| vios.element.child("PhysicalVolumes"));
    let found = disks
        .into_iter()
        .flat_map(|list| &list.children)
        .find(|disk| input.contains(&format!("udid=\"{}\"", disk.text("UniqueDeviceID"))));
    let disk = found.map(|disk| {
        format!(
            "<uom:PhysicalVolume udid=\"{}\"><uom:PhysicalVolume_base desType=\"NAA\" descriptor=\"{}\"/></uom:PhysicalVolume>",
            escaped(disk.text("UniqueDeviceID")),
            escaped(disk.text("DescriptorPage83")),
        )
    });
    let namespace = super::schema::UOM;
    format!(
        "<?xml version=\"1.0\"?><uom:VIO xmlns:uom=\"{namespace}\"><uom:Response>{}</uom:Response></uom:VIO>",
        disk.unwrap_or_default()
    )
}

/// Lets a VIOS forget a disk that nobody uses.
pub(crate) fn remove(state: &mut State, host: usize, vios: &str, name: &str) -> Result<(), String> {
    let disk = Element::record("PhysicalVolume", &[("VolumeName", name)]);
    if storage::is_mapped(state, host, vios, &disk) {
        return Err(format!("VIOS01070004: {name} is mapped."));
    }
    let removed = state.object_mut(host, vios).is_some_and(|vios| {
        let list = &mut vios.element.child_mut("PhysicalVolumes").children;
        let before = list.len();
        list.retain(|disk| disk.text("VolumeName") != name);
        list.len() < before
    });
    if !removed {
        return Err(format!("VIOS01070005: There is no device {name}."));
    }
    state.announce(host, "MODIFY_URI", vios, "PhysicalVolumes");
    Ok(())
}
