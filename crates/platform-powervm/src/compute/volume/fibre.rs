//! Virtual Fibre Channel ports: which physical ports they are on, and what they are called.

use std::collections::BTreeMap;

use crate::client::{Entry, Parameter, Path};
use crate::compute::{Error, FibrePort, Host};

/// Pairs of names that a server gives at once.
const PAIRS_AT_ONCE: usize = 8;

/// A fabric: the physical ports of VIOSes that are connected to it.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// The world-wide names of the ports.
    pub ports: Vec<String>,
    /// How many virtual ports are wanted on it.
    pub wanted: usize,
}

/// A physical port.
#[derive(Clone, Debug)]
pub(in crate::compute) struct PhysicalPort {
    pub(in crate::compute) vios: String,
    pub(in crate::compute) name: String,
    pub(in crate::compute) wwpn: String,
    /// How many more virtual ports it takes.
    pub(in crate::compute) available: u32,
}

impl PhysicalPort {
    /// The ports of all VIOSes.
    pub(in crate::compute) async fn all(host: &Host) -> Result<Vec<Self>, Error> {
        let vioses = host.client().feed(&Path::feed("VirtualIOServer")).await;
        let vioses = vioses.map_err(|error| host.failed("reading the Fibre Channel ports", error))?;
        Ok(vioses.iter().flat_map(ports).collect())
    }

    /// Whether it is one of these.
    pub(in crate::compute) fn is_among(&self, wwpns: &[String]) -> bool {
        wwpns.iter().any(|wwpn| wwpn.eq_ignore_ascii_case(&self.wwpn))
    }
}

/// Chooses physical ports for virtual ones, spread over VIOSes and then over those with most room, and asks the server for names.
pub async fn assign_fibre_ports(host: &Host, fabrics: &[Fabric]) -> Result<Vec<FibrePort>, Error> {
    let all = PhysicalPort::all(host).await?;
    let mut chosen = Vec::new();
    for fabric in fabrics {
        let on_fabric = all.iter().filter(|port| port.is_among(&fabric.ports));
        let picked = spread(on_fabric.cloned().collect(), fabric.wanted);
        if picked.len() < fabric.wanted {
            let what = format!("Fibre Channel port with room among {}", fabric.ports.join(", "));
            return Err(Error::Missing { what, host: host.label() });
        }
        chosen.extend(picked);
    }
    let pairs = pairs(host, chosen.len()).await?;
    let port = |(port, wwpns): (PhysicalPort, (String, String))| FibrePort { vios: port.vios, port: port.name, wwpns };
    Ok(chosen.into_iter().zip(pairs).map(port).collect())
}

fn ports(vios: &Entry) -> Vec<PhysicalPort> {
    let slots = vios.object.at("PartitionIOConfiguration/ProfileIOSlots");
    let lists = slots.into_iter().flat_map(|slots| slots.all("ProfileIOSlot")).filter_map(|slot| {
        slot.at("AssociatedIOSlot/RelatedIOAdapter/PhysicalFibreChannelAdapter/PhysicalFibreChannelPorts")
    });
    let ports = lists.flat_map(|list| list.all("PhysicalFibreChannelPort"));
    ports
        .map(|port| PhysicalPort {
            vios: vios.id.clone(),
            name: port.text_at("PortName").unwrap_or_default(),
            wwpn: port.text_at("WWPN").unwrap_or_default(),
            available: port.text_at("AvailablePorts").and_then(|text| text.parse().ok()).unwrap_or_default(),
        })
        .collect()
}

/// One of each VIOS before a second of any, each time the one with most room.
fn spread(mut ports: Vec<PhysicalPort>, wanted: usize) -> Vec<PhysicalPort> {
    let mut chosen = Vec::new();
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    while chosen.len() < wanted {
        ports.retain(|port| port.available > 0);
        ports.sort_by(|a, b| {
            let load = |port: &PhysicalPort| used.get(&port.vios).copied().unwrap_or_default();
            load(a).cmp(&load(b)).then(b.available.cmp(&a.available)).then(a.wwpn.cmp(&b.wwpn))
        });
        let Some(port) = ports.first_mut() else { break };
        port.available -= 1;
        *used.entry(port.vios.clone()).or_default() += 1;
        chosen.push(port.clone());
    }
    chosen
}

/// New pairs of world-wide names.
async fn pairs(host: &Host, count: usize) -> Result<Vec<(String, String)>, Error> {
    let target = Path::entry("ManagedSystem", &host.system().id);
    let mut pairs = Vec::new();
    while pairs.len() < count {
        let wanted = (count - pairs.len()).min(PAIRS_AT_ONCE).to_string();
        let parameters = [("numberPairsRequested", Parameter::Text(&wanted))];
        let results = host.client().run_job(&target, "GetNextWWPNs", &parameters, host.jobs()).await;
        let results = results.map_err(|error| host.failed("asking for world-wide names", error))?;
        let names: Vec<&str> = results.get("wwpnList").map(|list| list.split(',').collect()).unwrap_or_default();
        let before = pairs.len();
        pairs.extend(names.chunks_exact(2).map(|pair| (pair[0].trim().to_owned(), pair[1].trim().to_owned())));
        if pairs.len() == before {
            return Err(Error::Missing { what: "world-wide name that is free".to_owned(), host: host.label() });
        }
    }
    pairs.truncate(count);
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_ports_are_spread() {
        let port = |vios: &str, name: &str, available| PhysicalPort {
            vios: vios.to_owned(),
            name: name.to_owned(),
            wwpn: format!("{vios}{name}"),
            available,
        };
        let ports = vec![port("1", "fcs0", 9), port("1", "fcs1", 10), port("2", "fcs0", 2)];
        let names = |wanted| -> Vec<String> {
            spread(ports.clone(), wanted).iter().map(|port| format!("{}{}", port.vios, port.name)).collect()
        };
        assert_eq!(names(2), ["1fcs1", "2fcs0"]);
        assert_eq!(names(4), ["1fcs1", "2fcs0", "1fcs0", "2fcs0"]);
        assert_eq!(spread(vec![port("1", "fcs0", 1)], 3).len(), 1);
    }
}
