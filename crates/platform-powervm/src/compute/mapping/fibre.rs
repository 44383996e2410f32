//! Mappings of Fibre Channel ports.

use crate::client::{Edit, linked_id, record};
use crate::compute::{FibrePort, PartitionId};
use crate::xml::Element;

/// The list of a VIOS.
pub(super) const LIST: &str = "VirtualFibreChannelMappings";
const ITEM: &str = "VirtualFibreChannelMapping";

/// Gives a partition a virtual port on a port of the VIOS.
pub(super) fn connect(vios: &mut Element, partition: &PartitionId, link: &str, port: &FibrePort) -> Edit {
    let Some(list) = vios.child_mut(LIST) else { return Edit::Unchanged };
    if list.all(ITEM).any(|item| is_of(item, partition, Some(port))) {
        return Edit::Unchanged;
    }
    let wwpns = format!("{} {}", port.wwpns.0, port.wwpns.1).to_lowercase();
    let client =
        record("ClientAdapter", &[("AdapterType", &"Client"), ("UseNextAvailableSlotID", &true), ("WWPNs", &wwpns)]);
    let server = record("ServerAdapter", &[("AdapterType", &"Server"), ("UseNextAvailableSlotID", &true)]);
    let mut mapping = record(ITEM, &[]);
    mapping
        .push(Element::new("AssociatedLogicalPartition").with_attribute("href", link).with_attribute("rel", "related"));
    mapping.push(client);
    mapping.push(record("Port", &[("PortName", &port.port)]));
    mapping.push(server);
    list.push(mapping);
    Edit::Changed
}

/// Takes a virtual port from a partition, or all of them.
pub(super) fn disconnect(vios: &mut Element, partition: &PartitionId, port: Option<&FibrePort>) -> Edit {
    let Some(list) = vios.child_mut(LIST) else { return Edit::Unchanged };
    let removed = list.remove(|item| item.local_name() == ITEM && is_of(item, partition, port));
    if removed == 0 { Edit::Unchanged } else { Edit::Changed }
}

/// Takes virtual ports that are on no port, and those of partitions that are no more.
pub(super) fn scrub(vios: &mut Element) -> Edit {
    let Some(list) = vios.child_mut(LIST) else { return Edit::Unchanged };
    let removed = list.remove(|item| {
        item.local_name() == ITEM
            && (item.child("Port").is_none()
                || item.child("ClientAdapter").is_none() && item.child("AssociatedLogicalPartition").is_none())
    });
    if removed == 0 { Edit::Unchanged } else { Edit::Changed }
}

fn is_of(item: &Element, partition: &PartitionId, port: Option<&FibrePort>) -> bool {
    let owner = item.child("AssociatedLogicalPartition").and_then(linked_id);
    let names = item.text_at("ClientAdapter/WWPNs").unwrap_or_default();
    owner.is_some_and(|id| id.eq_ignore_ascii_case(partition.as_str()))
        && port.is_none_or(|port| names.split_whitespace().any(|name| name.eq_ignore_ascii_case(&port.wwpns.0)))
}
