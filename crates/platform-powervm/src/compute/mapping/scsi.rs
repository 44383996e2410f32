//! Mappings of disks and media.

use crate::client::{Edit, ScsiMapping, Storage, linked_id, record};
use crate::compute::PartitionId;
use crate::xml::Element;

/// The list of a VIOS.
pub(super) const LIST: &str = "VirtualSCSIMappings";
const ITEM: &str = "VirtualSCSIMapping";
/// How many devices share a pair of adapters.
const DEVICES_OF_A_PAIR: usize = 32;
/// The slot of an adapter that any partition may use.
const ANY_SLOT: u32 = 65_535;

/// Shows something to a partition, on a pair of adapters that it has if there is room.
pub(super) fn map(
    vios: &mut Element,
    partition: &PartitionId,
    link: &str,
    storage: &Storage,
    tag: Option<&str>,
    slot: Option<u32>,
) -> Edit {
    let Some(list) = vios.child_mut(LIST) else { return Edit::Unchanged };
    if list.all(ITEM).any(|item| is_of(item, partition) && ScsiMapping::read(item).storage.as_ref() == Some(storage)) {
        return Edit::Unchanged;
    }
    let pair = if slot.is_none() { pair_with_room(list, partition) } else { None };
    let fresh = |side: &str, kind: &str, slot: Option<u32>| match slot {
        Some(slot) => record(side, &[("AdapterType", &kind), ("VirtualSlotNumber", &slot)]),
        None => record(side, &[("AdapterType", &kind), ("UseNextAvailableSlotID", &true)]),
    };
    let (client, server) =
        pair.unwrap_or_else(|| (fresh("ClientAdapter", "Client", slot), fresh("ServerAdapter", "Server", None)));
    let mut mapping = record(ITEM, &[]);
    mapping
        .push(Element::new("AssociatedLogicalPartition").with_attribute("href", link).with_attribute("rel", "related"));
    mapping.push(client);
    mapping.push(server);
    mapping.push(Element::new("Storage").with(storage.element(tag)));
    list.push(mapping);
    Edit::Changed
}

/// The adapters of a partition on which there is room for one more device.
fn pair_with_room(list: &Element, partition: &PartitionId) -> Option<(Element, Element)> {
    let slot = |item: &Element| item.text_at("ServerAdapter/VirtualSlotNumber");
    let own: Vec<&Element> = list.all(ITEM).filter(|item| is_of(item, partition) && slot(item).is_some()).collect();
    let roomy = own.iter().find(|item| {
        own.iter().filter(|other| slot(other) == slot(item) && other.child("Storage").is_some()).count()
            < DEVICES_OF_A_PAIR
    })?;
    Some((roomy.child("ClientAdapter")?.clone(), roomy.child("ServerAdapter")?.clone()))
}

/// Takes something from a partition, or everything.
pub(super) fn unmap(
    vios: &mut Element,
    partition: &PartitionId,
    storage: Option<&Storage>,
    released: &mut Vec<Storage>,
) -> Edit {
    take(vios, released, |item| {
        is_of(item, partition)
            && storage.is_none_or(|storage| ScsiMapping::read(item).storage.as_ref() == Some(storage))
    })
}

/// Takes what a partition of a number that is no more was shown, or any such partition.
pub(super) fn scrub(vios: &mut Element, number: Option<u32>, released: &mut Vec<Storage>) -> Edit {
    take(vios, released, |item| is_left_over(item, number))
}

/// Whether a mapping was that of a partition that is no more, of this number if one is given: nobody is at its other end.
fn is_left_over(item: &Element, number: Option<u32>) -> bool {
    let remote = |name: &str| item.text_at(&format!("ServerAdapter/{name}")).and_then(|text| text.parse::<u32>().ok());
    let orphan = item.child("ClientAdapter").is_none() && item.child("AssociatedLogicalPartition").is_none();
    let same = number.is_none() || remote("RemoteLogicalPartitionID") == number;
    orphan && same && remote("RemoteSlotNumber") != Some(ANY_SLOT)
}

fn take(vios: &mut Element, released: &mut Vec<Storage>, unwanted: impl Fn(&Element) -> bool) -> Edit {
    let Some(list) = vios.child_mut(LIST) else { return Edit::Unchanged };
    let unwanted = |item: &Element| item.local_name() == ITEM && unwanted(item);
    released.extend(list.elements().filter(|item| unwanted(item)).filter_map(|item| ScsiMapping::read(item).storage));
    if list.remove(unwanted) == 0 { Edit::Unchanged } else { Edit::Changed }
}

fn is_of(item: &Element, partition: &PartitionId) -> bool {
    let owner = item.child("AssociatedLogicalPartition").and_then(linked_id);
    owner.is_some_and(|id| id.eq_ignore_ascii_case(partition.as_str()))
}
