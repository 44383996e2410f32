//! A change of what a VIOS maps. Pure: it looks before it changes, and leaves everything else alone.

use serde::{Deserialize, Serialize};

use super::{fibre, scsi};
use crate::Client;
use crate::client::{Edit, Storage};
use crate::compute::{FibrePort, PartitionId};
use crate::xml::Element;

/// Something that a VIOS shows to a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backing {
    /// The id of the VIOS.
    pub vios: String,
    /// What it is.
    pub storage: Storage,
    /// What others call it: the id of a volume.
    pub tag: Option<String>,
}

/// A change of what a VIOS maps.
#[derive(Clone, Debug)]
pub(in crate::compute) enum Change {
    /// Shows something to a partition.
    Map { partition: PartitionId, storage: Storage, tag: Option<String>, slot: Option<u32> },
    /// Takes something from a partition, or everything.
    Unmap { partition: PartitionId, storage: Option<Storage> },
    /// Takes what was shown to a partition of this number that is no more. The one that has the number now keeps what it has.
    Scrub { number: u32 },
    /// Takes what was shown to any partition that is no more, and virtual ports that are on no port.
    ScrubAll,
    /// Gives a partition a virtual Fibre Channel port.
    Connect { partition: PartitionId, port: FibrePort },
    /// Takes a virtual port from a partition, or all of them.
    Disconnect { partition: PartitionId, port: Option<FibrePort> },
}

impl Change {
    /// Whether it needs to see Fibre Channel mappings.
    pub(super) fn is_fibre(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::Disconnect { .. } | Self::ScrubAll)
    }

    /// Makes the change in a VIOS. What is taken from partitions is added to `released`.
    pub(super) fn apply(
        &self,
        client: &Client,
        vios: &mut Element,
        released: &mut Vec<Storage>,
    ) -> Result<Edit, crate::Error> {
        let list = |vios: &mut Element, name: &str| -> Result<(), crate::Error> {
            if vios.child(name).is_some() {
                return Ok(());
            }
            Err(client.misread(&format!("reading {name} of a VIOS"), "it is missing"))
        };
        let link = |partition: &PartitionId| client.link(&format!("uom/LogicalPartition/{partition}"));
        match self {
            Self::Map { partition, storage, tag, slot } => {
                list(vios, scsi::LIST)?;
                Ok(scsi::map(vios, partition, &link(partition), storage, tag.as_deref(), *slot))
            }
            Self::Unmap { partition, storage } => Ok(scsi::unmap(vios, partition, storage.as_ref(), released)),
            Self::Scrub { number } => Ok(scsi::scrub(vios, Some(*number), released)),
            Self::ScrubAll => {
                let edits = [scsi::scrub(vios, None, released), fibre::scrub(vios)];
                Ok(if edits.contains(&Edit::Changed) { Edit::Changed } else { Edit::Unchanged })
            }
            Self::Connect { partition, port } => {
                list(vios, fibre::LIST)?;
                Ok(fibre::connect(vios, partition, &link(partition), port))
            }
            Self::Disconnect { partition, port } => Ok(fibre::disconnect(vios, partition, port.as_ref())),
        }
    }
}
