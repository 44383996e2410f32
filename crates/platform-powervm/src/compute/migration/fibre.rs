//! Virtual Fibre Channel ports of a partition that moves while it runs.
//!
//! They keep their slots and their names. Each is on a physical port of the target on the same fabric, and those that one VIOS had on
//! the source one VIOS has on the target, so that a partition with two ways to its disks has two ways there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::client::{Entry, linked_id};
use crate::compute::{Error, FibrePort, Host, PartitionId, Vios, mapping::Change, volume::PhysicalPort};
use crate::xml::Element;

/// A virtual port of a partition that comes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComingPort {
    /// As it is on the server that the partition comes from.
    #[serde(flatten)]
    pub port: FibrePort,
    /// The world-wide names of the physical ports on its fabric. Those of other servers do no harm.
    pub fabric: Vec<String>,
}

/// Where a virtual port is on the server that a partition goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Berth {
    /// As it will be there: the name that it did not use is the first, and is used from then on.
    #[serde(flatten)]
    pub port: FibrePort,
    /// The name of its VIOS there.
    pub vios_name: String,
    /// The number of its VIOS there.
    pub vios_number: u32,
}

/// A virtual port that a partition has.
struct Own {
    slot: u32,
    /// The world-wide name of the physical port that it is on.
    physical: String,
    port: FibrePort,
}

impl Own {
    fn read(vios: &Entry, mapping: &Element) -> Option<Self> {
        let text = |path: &str| mapping.text_at(path).unwrap_or_default();
        let names = text("ClientAdapter/WWPNs");
        let (first, second) = names.split_once(char::is_whitespace)?;
        let wwpns = (first.trim().to_owned(), second.trim().to_owned());
        Some(Self {
            slot: text("ClientAdapter/VirtualSlotNumber").parse().ok()?,
            physical: text("Port/WWPN"),
            port: FibrePort { vios: vios.id.clone(), port: text("Port/PortName"), wwpns },
        })
    }
}

/// The virtual ports of a partition.
fn own(vioses: &[Entry], id: &PartitionId) -> Vec<Own> {
    let mut found = Vec::new();
    for vios in vioses {
        let list = vios.object.child("VirtualFibreChannelMappings");
        for mapping in list.into_iter().flat_map(|list| list.all("VirtualFibreChannelMapping")) {
            let owner = mapping.child("AssociatedLogicalPartition").and_then(linked_id);
            if owner.is_some_and(|owner| owner.eq_ignore_ascii_case(id.as_str())) {
                found.extend(Own::read(vios, mapping));
            }
        }
    }
    found
}

/// Chooses ports of a server for those that a partition has on another.
pub(super) async fn found(
    source: &Host,
    target: &Host,
    id: &PartitionId,
    fabrics: &[Vec<String>],
) -> Result<Vec<Berth>, Error> {
    let mut coming = Vec::new();
    for own in own(&source.read_mappings().await?, id) {
        let fabric = fabrics.iter().find(|ports| ports.iter().any(|wwpn| wwpn.eq_ignore_ascii_case(&own.physical)));
        let fabric = fabric.cloned().ok_or_else(|| {
            let physical = &own.physical;
            stays(
                source,
                id,
                format!("its virtual Fibre Channel port is on {physical}, which is on no fabric that is named"),
            )
        })?;
        coming.push(ComingPort { port: own.port, fabric });
    }
    berths(target, &coming).await
}

/// Chooses ports of a server for those of a partition that comes.
pub(super) async fn berths(target: &Host, coming: &[ComingPort]) -> Result<Vec<Berth>, Error> {
    if coming.is_empty() {
        return Ok(Vec::new());
    }
    let ports = PhysicalPort::all(target).await?;
    choose(&target.vioses().await?, &ports, coming).ok_or_else(|| {
        let names: Vec<&str> = coming.iter().map(|port| port.port.wwpns.0.as_str()).collect();
        let what = format!(
            "set of VIOSes with free Fibre Channel ports on the same fabrics for {} (as many VIOSes as they are on now)",
            names.join(", ")
        );
        Error::Missing { what, host: target.label() }
    })
}

/// Ports of VIOSes for those that come, in their order. What one VIOS had goes to one VIOS, and to each no more than that.
fn choose(vioses: &[Vios], ports: &[PhysicalPort], coming: &[ComingPort]) -> Option<Vec<Berth>> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, port) in coming.iter().enumerate() {
        groups.entry(&port.port.vios).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let mut places = place(&groups, vioses, ports, coming)?;
    places.sort_by_key(|(index, _)| *index);
    Some(places.into_iter().map(|(_, berth)| berth).collect())
}

/// Finds a VIOS for the first group such that there is one for each of the others.
fn place(
    groups: &[Vec<usize>],
    vioses: &[Vios],
    ports: &[PhysicalPort],
    coming: &[ComingPort],
) -> Option<Vec<(usize, Berth)>> {
    let Some((first, rest)) = groups.split_first() else { return Some(Vec::new()) };
    vioses.iter().enumerate().find_map(|(number, vios)| {
        let mut here = on(vios, ports, coming, first)?;
        let others: Vec<Vios> =
            vioses.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, vios)| vios.clone()).collect();
        here.extend(place(rest, &others, ports, coming)?);
        Some(here)
    })
}

/// Ports of one VIOS for some of those that come: on each as few of them as possible, then on those with most room.
fn on(vios: &Vios, ports: &[PhysicalPort], coming: &[ComingPort], group: &[usize]) -> Option<Vec<(usize, Berth)>> {
    let mut free: Vec<(u32, PhysicalPort)> =
        ports.iter().filter(|port| port.vios.eq_ignore_ascii_case(&vios.id)).map(|port| (0, port.clone())).collect();
    let mut berths = Vec::new();
    for index in group {
        let coming = &coming[*index];
        let fits = free.iter_mut().filter(|(_, port)| port.available > 0 && port.is_among(&coming.fabric));
        let (used, port) = fits.min_by_key(|(used, port)| (*used, std::cmp::Reverse(port.available)))?;
        *used += 1;
        port.available -= 1;
        let (first, second) = coming.port.wwpns.clone();
        berths.push((
            *index,
            Berth {
                port: FibrePort { vios: vios.id.clone(), port: port.name.clone(), wwpns: (second, first) },
                vios_name: vios.name.clone(),
                vios_number: vios.number,
            },
        ));
    }
    Some(berths)
}

/// What the job is told about each virtual port of a partition: its slot, and where it goes. One for which there is no place on the
/// target would be put anywhere, so that is an error.
pub(super) fn words(source: &Host, id: &PartitionId, vioses: &[Entry], berths: &[Berth]) -> Result<Vec<String>, Error> {
    let word = |own: Own| {
        let is_it = |berth: &&Berth| {
            let (first, second) = &berth.port.wwpns;
            [first, second].iter().any(|name| name.eq_ignore_ascii_case(&own.port.wwpns.0))
        };
        let name = &own.port.wwpns.0;
        let berth = berths.iter().find(is_it).ok_or_else(|| {
            stays(source, id, format!("the other server has no place for its virtual Fibre Channel port {name}"))
        })?;
        Ok(format!("{}/{}/{}//{}", own.slot, berth.vios_name, berth.vios_number, berth.port.port))
    };
    own(vioses, id).into_iter().map(word).collect()
}

/// Removes what VIOSes still have of the virtual ports of a partition that is gone.
pub(super) async fn remove(source: &Host, id: &PartitionId, berths: &[Berth]) -> Result<(), Error> {
    if berths.is_empty() {
        return Ok(());
    }
    let left = own(&source.read_mappings().await?, id);
    let change = || vec![Change::Disconnect { partition: id.clone(), port: None }];
    source.change(left.into_iter().map(|own| (own.port.vios, change())).collect()).await.map(drop)
}

fn stays(source: &Host, id: &PartitionId, reason: String) -> Error {
    Error::Refused { what: format!("partition {id}"), host: source.label(), done: "migrated", reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vios(number: u32) -> Vios {
        let (id, name) = (format!("id-{number}"), format!("vios{number}"));
        Vios { id, name, number, is_management: false, ports: Vec::new() }
    }

    fn physical(vios: u32, name: &str, available: u32) -> PhysicalPort {
        let (vios, wwpn) = (format!("id-{vios}"), format!("{vios}{name}"));
        PhysicalPort { vios, name: name.to_owned(), wwpn, available }
    }

    /// A port that a VIOS of the source has, on a fabric of ports that are all called so.
    fn coming(vios: &str, name: &str, fabric: &[&str]) -> ComingPort {
        let wwpns = (format!("{name}1"), format!("{name}2"));
        let port = FibrePort { vios: vios.to_owned(), port: "fcs9".to_owned(), wwpns };
        ComingPort { port, fabric: fabric.iter().map(|wwpn| (*wwpn).to_owned()).collect() }
    }

    fn chosen(vioses: &[Vios], ports: &[PhysicalPort], coming: &[ComingPort]) -> Option<Vec<String>> {
        let shown = |berth: Berth| format!("{} {} {}", berth.vios_name, berth.port.port, berth.port.wwpns.0);
        Some(choose(vioses, ports, coming)?.into_iter().map(shown).collect())
    }

    const A: &[&str] = &["1fcs0", "2fcs0"];
    const B: &[&str] = &["1FCS1", "2fcs1", "2fcs2"];

    #[test]
    fn ports_stay_on_their_fabrics_and_together() {
        let vioses = [vios(1), vios(2)];
        let ports = [physical(1, "fcs0", 9), physical(1, "fcs1", 9), physical(2, "fcs0", 9), physical(2, "fcs1", 9)];
        let all = [coming("x", "a", A), coming("y", "b", A), coming("x", "c", B), coming("y", "d", B)];
        let expected = ["vios1 fcs0 a2", "vios2 fcs0 b2", "vios1 fcs1 c2", "vios2 fcs1 d2"];
        assert_eq!(chosen(&vioses, &ports, &all).unwrap(), expected);
    }

    #[test]
    fn a_vios_is_left_to_those_who_can_be_nowhere_else() {
        let vioses = [vios(1), vios(2)];
        let ports = [physical(1, "fcs0", 9), physical(1, "fcs1", 9), physical(2, "fcs0", 9)];
        let all = [coming("x", "a", A), coming("y", "b", B)];
        assert_eq!(chosen(&vioses, &ports, &all).unwrap(), ["vios2 fcs0 a2", "vios1 fcs1 b2"]);
    }

    #[test]
    fn there_must_be_room_and_as_many_vioses() {
        let ports = [physical(1, "fcs0", 1), physical(2, "fcs0", 0)];
        let both = [vios(1), vios(2)];
        assert_eq!(chosen(&both, &ports, &[coming("x", "a", A)]).unwrap(), ["vios1 fcs0 a2"]);
        assert_eq!(chosen(&both, &ports, &[coming("x", "a", A), coming("x", "b", A)]), None, "one has room for one");
        assert_eq!(chosen(&both, &ports, &[coming("x", "a", A), coming("y", "b", A)]), None, "the other has none");
        let ports = [physical(1, "fcs0", 9), physical(2, "fcs0", 9)];
        assert_eq!(
            chosen(&both[..1], &ports, &[coming("x", "a", A), coming("y", "b", A)]),
            None,
            "one VIOS is not two"
        );
    }

    #[test]
    fn ports_of_one_vios_are_spread() {
        let ports = [physical(2, "fcs1", 3), physical(2, "fcs2", 9)];
        let all = [coming("x", "a", B), coming("x", "b", B), coming("x", "c", B)];
        let expected = ["vios2 fcs2 a2", "vios2 fcs1 b2", "vios2 fcs2 c2"];
        assert_eq!(chosen(&[vios(1), vios(2)], &ports, &all).unwrap(), expected);
    }
}
