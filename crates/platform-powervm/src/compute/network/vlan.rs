//! Which VLANs shared Ethernet adapters carry.
//!
//! A bridge is one shared Ethernet adapter, or a pair that stand in for each other. Each has trunks: the first carries what has no tag,
//! the others up to 20 VLANs each under a number of their own that nobody uses. The adapters of a pair have the same trunks.

use std::collections::BTreeSet;

use super::ledger::{Stay, Vlan};
use crate::client::{Edit, Entry, Path, record};
use crate::compute::{Error, Host};
use crate::xml::Element;

const VLANS_OF_A_TRUNK: usize = 20;
/// Numbers of trunks are taken from the top.
const ARBITRARY: std::ops::RangeInclusive<u16> = 2..=4093;

/// Who changes bridges does so alone, among those of this program.
pub(super) const TURN: &str = "network-bridges";

/// Makes a bridge carry a VLAN, if none does. Without any bridge on its switch a VLAN is internal, and that is all right.
///
/// Whoever needs the VLAN has an adapter on it before this is called, see [`super::tidy`].
pub(super) async fn bridge(host: &Host, vlan: Vlan) -> Result<(), Error> {
    let bridges = on_switch(host, vlan).await?;
    if is_carried(&bridges, vlan) {
        return Ok(());
    }
    let turn = host.turn(TURN);
    let _turn = turn.lock().await;
    let Some(ledger) = host.added_vlans.as_ref().filter(|_| !bridges.is_empty()) else {
        return add_to(host, &bridges, vlan).await.map(drop);
    };
    // Before it is done: whoever dies in between shall not forget that it was.
    let is_known = ledger.all(host)?.contains_key(&vlan);
    ledger.note(host, vlan, Stay::Needed)?;
    if add_to(host, &bridges, vlan).await? == Edit::Unchanged && !is_known {
        // Somebody else was faster, so it is theirs.
        ledger.forget(host, vlan)?;
    }
    Ok(())
}

/// The same, for whoever has the turn.
pub(super) async fn add_to_bridge(host: &Host, vlan: Vlan) -> Result<(), Error> {
    let bridges = on_switch(host, vlan).await?;
    if is_carried(&bridges, vlan) { Ok(()) } else { add_to(host, &bridges, vlan).await.map(drop) }
}

/// Where the bridges of a server are.
pub(super) fn bridges(host: &Host) -> Path {
    Path::entry("ManagedSystem", &host.system().id).child("NetworkBridge")
}

/// The bridges on the switch of a VLAN.
async fn on_switch(host: &Host, vlan: Vlan) -> Result<Vec<Entry>, Error> {
    let on_switch =
        |bridge: &Entry| trunks(&bridge.object).any(|trunk| number(trunk, "VirtualSwitchID") == Some(vlan.switch));
    let read = async {
        let found = host.client().feed(&bridges(host)).await;
        found.map_err(|error| host.failed(format!("bridging VLAN {}", vlan.number), error))
    };
    let mut found = host.bridges.read("", read).await?;
    found.retain(on_switch);
    Ok(found)
}

fn is_carried(bridges: &[Entry], vlan: Vlan) -> bool {
    bridges.iter().any(|bridge| trunks(&bridge.object).any(|trunk| vlans(trunk).contains(&vlan.number)))
}

/// Makes the first bridge carry a VLAN.
async fn add_to(host: &Host, bridges: &[Entry], vlan: Vlan) -> Result<Edit, Error> {
    let Some(first) = bridges.first() else { return Ok(Edit::Unchanged) };
    let taken: BTreeSet<u16> = bridges.iter().flat_map(|bridge| trunks(&bridge.object).flat_map(vlans)).collect();
    let path = self::bridges(host).item(&first.id);
    let mut edit = Edit::Unchanged;
    let added = host.client().edit(&path, |object| {
        edit = add(object, vlan, &taken);
        Ok(edit)
    });
    added.await.map_err(|error| host.failed(format!("bridging VLAN {}", vlan.number), error))?;
    Ok(edit)
}

/// Adds a VLAN to a trunk with room in every adapter of a bridge, or adds a trunk.
fn add(bridge: &mut Element, vlan: Vlan, taken: &BTreeSet<u16>) -> Edit {
    let Vlan { switch, number: vlan } = vlan;
    if trunks(bridge).any(|trunk| vlans(trunk).contains(&vlan)) {
        return Edit::Unchanged;
    }
    let mut used: BTreeSet<u16> = trunks(bridge).flat_map(vlans).collect();
    used.extend(taken.iter().copied().chain([vlan]));
    let Some(adapters) = bridge.child_mut("SharedEthernetAdapters") else { return Edit::Unchanged };
    // All but the first trunk carry tagged VLANs.
    let roomy = adapters.child("SharedEthernetAdapter").and_then(|adapter| {
        let trunks = adapter.child("TrunkAdapters")?.all("TrunkAdapter").skip(1);
        trunks
            .into_iter()
            .find(|trunk| tagged(trunk).len() < VLANS_OF_A_TRUNK)
            .and_then(|trunk| trunk.text_at("PortVLANID"))
    });
    let arbitrary = ARBITRARY.rev().find(|number| !used.contains(number));
    for adapter in adapters.elements_mut().filter(|adapter| adapter.local_name() == "SharedEthernetAdapter") {
        let Some(list) = adapter.child_mut("TrunkAdapters") else { continue };
        if let Some(own) = &roomy {
            let peer = list.elements_mut().find(|trunk| trunk.text_at("PortVLANID").as_ref() == Some(own));
            if let Some(trunk) = peer {
                let mut all: Vec<String> = tagged(trunk).iter().map(u16::to_string).collect();
                all.push(vlan.to_string());
                trunk.replace(Element::text_of("TaggedVLANIDs", all.join(" ")), &ORDER);
                trunk.replace(Element::text_of("TaggedVLANSupported", true), &ORDER);
            }
        } else {
            let priority = list.child("TrunkAdapter").and_then(|first| first.text_at("TrunkPriority"));
            let priority = priority.unwrap_or_else(|| "1".to_owned());
            list.push(record(
                "TrunkAdapter",
                &[
                    ("RequiredAdapter", &true),
                    ("UseNextAvailableHighSlotID", &true),
                    ("PortVLANID", &arbitrary.unwrap_or(*ARBITRARY.end())),
                    ("TaggedVLANIDs", &vlan),
                    ("TaggedVLANSupported", &true),
                    ("VirtualSwitchID", &switch),
                    ("TrunkPriority", &priority),
                ],
            ));
        }
    }
    Edit::Changed
}

pub(super) const ORDER: [&str; 5] =
    ["MACAddress", "PortVLANID", "QualityOfServicePriorityEnabled", "TaggedVLANIDs", "TaggedVLANSupported"];

pub(super) fn trunks(bridge: &Element) -> impl Iterator<Item = &Element> {
    let adapters =
        bridge.child("SharedEthernetAdapters").into_iter().flat_map(|list| list.all("SharedEthernetAdapter"));
    adapters.filter_map(|adapter| adapter.child("TrunkAdapters")).flat_map(|list| list.all("TrunkAdapter"))
}

pub(super) fn number(element: &Element, name: &str) -> Option<u32> {
    element.text_at(name)?.parse().ok()
}

pub(super) fn tagged(trunk: &Element) -> Vec<u16> {
    let text = trunk.text_at("TaggedVLANIDs").unwrap_or_default();
    text.split_whitespace().filter_map(|vlan| vlan.parse().ok()).collect()
}

pub(super) fn vlans(trunk: &Element) -> Vec<u16> {
    let own = trunk.text_at("PortVLANID").and_then(|vlan| vlan.parse().ok());
    own.into_iter().chain(tagged(trunk)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Document;

    fn bridge(tagged: usize) -> Element {
        let list: Vec<String> = (100..100 + tagged).map(|vlan| vlan.to_string()).collect();
        let adapter = format!(
            "<SharedEthernetAdapter><TrunkAdapters><TrunkAdapter><PortVLANID>1</PortVLANID><TrunkPriority>1</TrunkPriority></TrunkAdapter>\
             <TrunkAdapter><PortVLANID>4093</PortVLANID><TaggedVLANIDs>{}</TaggedVLANIDs><TaggedVLANSupported>true</TaggedVLANSupported></TrunkAdapter>\
             </TrunkAdapters></SharedEthernetAdapter>",
            list.join(" ")
        );
        let text = format!("<B><SharedEthernetAdapters>{adapter}{adapter}</SharedEthernetAdapters></B>");
        Document::parse(text.as_bytes()).unwrap().root
    }

    const VLAN: Vlan = Vlan { switch: 0, number: 7 };

    #[test]
    fn a_vlan_goes_to_a_trunk_with_room_in_both_adapters() {
        let mut bridge = bridge(19);
        assert_eq!(add(&mut bridge, VLAN, &BTreeSet::new()), Edit::Changed);
        let carrying: Vec<usize> = trunks(&bridge).map(|trunk| usize::from(tagged(trunk).contains(&7))).collect();
        assert_eq!(carrying, [0, 1, 0, 1]);
        assert_eq!(add(&mut bridge, VLAN, &BTreeSet::new()), Edit::Unchanged);
    }

    #[test]
    fn full_trunks_get_company() {
        let mut bridge = bridge(20);
        let taken = BTreeSet::from([4092]);
        assert_eq!(add(&mut bridge, VLAN, &taken), Edit::Changed);
        let own: Vec<Vec<u16>> = trunks(&bridge).filter(|trunk| tagged(trunk) == [7]).map(vlans).collect();
        assert_eq!(own, [vec![4091, 7], vec![4091, 7]]);
    }
}
