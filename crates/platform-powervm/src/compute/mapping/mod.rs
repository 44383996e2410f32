//! What VIOSes map to partitions: disks, media, Fibre Channel ports.
//!
//! A VIOS is changed as a whole: read, edited, sent back. So changes that come together are made in one update, and updates of one
//! VIOS take turns ([`Queue`]); those of different VIOSes run side by side.

mod change;
mod fibre;
mod queue;
mod scsi;

pub use change::Backing;
pub(super) use change::Change;
pub(super) use queue::{Applied, Queue};

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use futures::future::join_all;

use super::{Error, Host, PartitionId};
use crate::client::{Entry, Group, Path, Storage, VirtualIoServer};

/// How long one operation may believe what it was told at its beginning.
const MOMENT: Duration = Duration::from_secs(30);

/// When all VIOSes were last read, and which there were.
#[derive(Clone, Debug)]
pub(super) struct LastRead {
    began: Instant,
    vioses: Vec<String>,
}

impl Host {
    /// Makes changes on VIOSes, by their ids: one update for each VIOS, side by side.
    pub(super) async fn change(
        &self,
        changes: BTreeMap<String, Vec<Change>>,
    ) -> Result<BTreeMap<String, Applied>, Error> {
        let updates = changes.into_iter().filter(|(_, list)| !list.is_empty()).map(|(vios, list)| async move {
            let applied = self.queue(&vios).submit(self.client(), &vios, list).await;
            let applied = applied.map_err(|source| Error::console("changing what a VIOS maps", self.name(), source))?;
            Ok((vios, applied))
        });
        // All of them come to their end: an update that is given up on its way may still arrive.
        join_all(updates).await.into_iter().collect()
    }

    /// All that VIOSes map. The next change of one need not read it again.
    pub(super) async fn read_mappings(&self) -> Result<Vec<Entry>, Error> {
        self.mappings.read("all", self.read_mappings_with(&queue::ALL)).await
    }

    /// The disks and media that VIOSes map.
    pub(super) async fn read_scsi_mappings(&self) -> Result<Vec<Entry>, Error> {
        self.mappings.read("scsi", self.read_mappings_with(&queue::ALL[..1])).await
    }

    async fn read_mappings_with(&self, groups: &[Group]) -> Result<Vec<Entry>, Error> {
        let began = Instant::now();
        let vioses = self.client().feed(&Path::feed("VirtualIOServer").with(groups)).await;
        let vioses = vioses.map_err(|error| self.failed("reading what VIOSes map", error))?;
        for vios in &vioses {
            self.queue(&vios.id).learn(vios, groups, began);
        }
        let read = LastRead { began, vioses: vioses.iter().map(|vios| vios.id.clone()).collect() };
        *self.last_read.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        self.learn_vioses(&vioses.iter().map(VirtualIoServer::read).collect::<Vec<_>>()).await;
        Ok(vioses)
    }

    /// The disks and media that VIOSes map, as the console has told when they were read a moment ago, or changed since.
    pub(super) async fn recent_scsi_mappings(&self) -> Result<Vec<Entry>, Error> {
        let read = self.last_read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let recent = read.filter(|read| read.began.elapsed() < MOMENT).and_then(|read| {
            read.vioses.iter().map(|vios| self.queue(vios).since(read.began)).collect::<Option<Vec<Entry>>>()
        });
        match recent {
            Some(recent) => Ok(recent),
            None => self.read_scsi_mappings().await,
        }
    }

    /// Whether a VIOS shows something to anybody.
    pub(super) async fn maps(&self, vios: &str, storage: &Storage) -> Result<bool, Error> {
        let path = crate::Client::vios_path(vios).with(&[Group::ViosScsiMappings]);
        let entry = self.client().entry(&path).await.map_err(|error| self.failed("reading what a VIOS maps", error))?;
        Ok(VirtualIoServer::read(&entry).mappings.iter().any(|mapping| mapping.storage.as_ref() == Some(storage)))
    }

    /// What VIOSes show to a partition, except media, in the order of their slots.
    pub(super) async fn shown_to(&self, id: &PartitionId) -> Result<Vec<Backing>, Error> {
        let mut shown = shown(&self.read_scsi_mappings().await?, id);
        shown.retain(|backing| !matches!(backing.storage, Storage::OpticalMedium(_)));
        Ok(shown)
    }
}

/// What VIOSes show to a partition, in the order of their slots.
pub(super) fn shown(vioses: &[Entry], id: &PartitionId) -> Vec<Backing> {
    let mut shown = Vec::new();
    for vios in vioses {
        for mapping in VirtualIoServer::read(vios).mappings {
            let own = mapping.partition.is_some_and(|owner| owner.eq_ignore_ascii_case(id.as_str()));
            let storage = mapping.storage.filter(|_| own);
            shown.extend(storage.map(|storage| Backing { vios: vios.id.clone(), storage, tag: None }));
        }
    }
    shown
}
