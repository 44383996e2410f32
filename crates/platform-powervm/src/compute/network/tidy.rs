//! Taking VLANs from shared Ethernet adapters that were added for partitions, when the last of these is gone.
//!
//! Somebody else may begin to use a VLAN while it is removed, and the platform does not notice: adapters and bridges have entity tags of
//! their own. So everybody makes the adapter first and looks at the bridge after that, and whoever removes a VLAN looks again for adapters
//! after that: one of the two sees the other.

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use landfall_platform::ErrorClass;

use super::ledger::{Stay, Vlan};
use super::{adapter, vlan};
use crate::client::{Edit, Path};
use crate::compute::{Error, Host};
use crate::xml::Element;

/// How many partitions are asked for their adapters at a time.
const AT_ONCE: usize = 8;

/// Removes VLANs of these numbers that this program has added and nobody uses any more, and finishes what was cut off before.
pub(super) async fn tidy(host: &Host, numbers: &BTreeSet<u16>) -> Result<(), Error> {
    let Some(ledger) = &host.added_vlans else { return Ok(()) };
    let turn = host.turn(vlan::TURN);
    let _turn = turn.lock().await;
    let concerned = |vlan: &Vlan, stay: &Stay| *stay == Stay::Leaving || numbers.contains(&vlan.number);
    let all: BTreeMap<Vlan, Stay> =
        ledger.all(host)?.into_iter().filter(|(vlan, stay)| concerned(vlan, stay)).collect();
    if all.is_empty() {
        return Ok(());
    }
    let used = used(host).await?;
    let unused: Vec<Vlan> = all.keys().copied().filter(|vlan| !used.contains(vlan)).collect();
    for vlan in &unused {
        ledger.note(host, *vlan, Stay::Leaving)?;
    }
    let used = if unused.is_empty() {
        used
    } else {
        remove(host, &unused).await?;
        self::used(host).await?
    };
    for (vlan, stay) in all {
        let removed = unused.contains(&vlan);
        if !used.contains(&vlan) {
            if removed {
                ledger.forget(host, vlan)?;
            }
        } else if removed || stay == Stay::Leaving {
            // Somebody uses it after all.
            vlan::add_to_bridge(host, vlan).await?;
            ledger.note(host, vlan, Stay::Needed)?;
        }
    }
    Ok(())
}

/// The VLANs that partitions and VIOSes use, other than to carry them.
async fn used(host: &Host) -> Result<BTreeSet<Vlan>, Error> {
    let failed = |error| host.failed("looking for users of VLANs", error);
    let (partitions, vioses) =
        tokio::try_join!(host.client().partitions(), host.client().vioses(&[])).map_err(failed)?;
    let partitions = partitions.iter().map(|partition| Path::entry("LogicalPartition", &partition.id));
    let vioses = vioses.iter().map(|vios| Path::entry("VirtualIOServer", &vios.partition.id));
    let owners: Vec<Path> = partitions.chain(vioses).collect();
    let adapters = stream::iter(owners).map(async |owner| match adapter::of(host, &owner).await {
        // It has gone meanwhile.
        Err(error) if error.class() == ErrorClass::NotFound => Ok(Vec::new()),
        adapters => adapters,
    });
    let adapters: Vec<Vec<adapter::Adapter>> = adapters.buffer_unordered(AT_ONCE).try_collect().await?;
    let users = adapters.into_iter().flatten().filter(|adapter| !adapter.is_trunk);
    Ok(users
        .flat_map(|adapter| {
            let numbers = adapter.tagged.into_iter().chain([adapter.vlan]);
            numbers.map(move |number| Vlan { switch: adapter.switch, number })
        })
        .collect())
}

/// Removes VLANs from the bridges that carry them.
async fn remove(host: &Host, gone: &[Vlan]) -> Result<(), Error> {
    let failed = |error| host.failed("removing VLANs from a shared Ethernet adapter", error);
    let feed = vlan::bridges(host);
    for bridge in host.client().feed(&feed).await.map_err(failed)? {
        let mut sample = bridge.object.clone();
        if take(&mut sample, gone) == Edit::Changed {
            let edited = host.client().edit(&feed.item(&bridge.id), |object| Ok(take(object, gone))).await;
            edited.map_err(failed)?;
        }
    }
    Ok(())
}

/// Takes VLANs from the trunks of a bridge, and trunks that carry nothing any more. The first trunk of an adapter is left as it is: it is
/// the one that the adapter was made with.
fn take(bridge: &mut Element, gone: &[Vlan]) -> Edit {
    let mut edit = Edit::Unchanged;
    let Some(adapters) = bridge.child_mut("SharedEthernetAdapters") else { return edit };
    for adapter in adapters.elements_mut().filter(|adapter| adapter.local_name() == "SharedEthernetAdapter") {
        let Some(list) = adapter.child_mut("TrunkAdapters") else { continue };
        let mut empty = BTreeSet::new();
        for trunk in list.elements_mut().filter(|trunk| trunk.local_name() == "TrunkAdapter").skip(1) {
            let switch = vlan::number(trunk, "VirtualSwitchID").unwrap_or_default();
            let before = vlan::tagged(trunk);
            let leaves = |number: &u16| gone.contains(&Vlan { switch, number: *number });
            let after: Vec<String> = before.iter().filter(|number| !leaves(number)).map(u16::to_string).collect();
            if after.len() == before.len() {
                continue;
            }
            edit = Edit::Changed;
            if after.is_empty() {
                empty.extend(trunk.text_at("PortVLANID"));
            } else {
                trunk.replace(Element::text_of("TaggedVLANIDs", after.join(" ")), &vlan::ORDER);
            }
        }
        list.remove(|trunk| trunk.text_at("PortVLANID").is_some_and(|own| empty.contains(&own)));
    }
    edit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Document;

    fn bridge(trunks: &[(u16, &str)]) -> Element {
        let trunk = |(own, tagged): &(u16, &str)| {
            format!(
                "<TrunkAdapter><PortVLANID>{own}</PortVLANID><TaggedVLANIDs>{tagged}</TaggedVLANIDs>\
                 <VirtualSwitchID>0</VirtualSwitchID></TrunkAdapter>"
            )
        };
        let trunks: String = trunks.iter().map(trunk).collect();
        let adapter = format!("<SharedEthernetAdapter><TrunkAdapters>{trunks}</TrunkAdapters></SharedEthernetAdapter>");
        let text = format!("<B><SharedEthernetAdapters>{adapter}{adapter}</SharedEthernetAdapters></B>");
        Document::parse(text.as_bytes()).unwrap().root
    }

    fn vlan(number: u16) -> Vlan {
        Vlan { switch: 0, number }
    }

    fn carried(bridge: &Element) -> Vec<Vec<u16>> {
        vlan::trunks(bridge).map(vlan::vlans).collect()
    }

    #[test]
    fn a_vlan_goes_from_both_adapters_and_takes_an_empty_trunk_with_it() {
        let mut object = bridge(&[(1, ""), (4093, "100 777"), (4092, "778")]);
        assert_eq!(take(&mut object, &[vlan(777), vlan(778)]), Edit::Changed);
        let one = [vec![1], vec![4093, 100]];
        assert_eq!(carried(&object), [one.clone(), one].concat());
        assert_eq!(take(&mut object, &[vlan(777), vlan(778)]), Edit::Unchanged);
    }

    #[test]
    fn first_trunks_own_numbers_and_other_switches_are_left_alone() {
        let mut object = bridge(&[(1, "50"), (4093, "100")]);
        let before = carried(&object);
        let other = Vlan { switch: 1, number: 100 };
        assert_eq!(take(&mut object, &[vlan(1), vlan(50), vlan(4093), other]), Edit::Unchanged);
        assert_eq!(carried(&object), before);
    }
}
