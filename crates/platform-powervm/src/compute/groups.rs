//! Volume groups of VIOSes. They are read once for all who ask, and changed by one at a time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{Error, Host, shared::Shared};
use crate::client::{Entry, VolumeGroup};

/// Volume groups as they were when they were last seen.
#[derive(Debug, Default)]
pub(super) struct Groups {
    read: Shared<Vec<Entry>>,
    last: Mutex<BTreeMap<String, Entry>>,
}

impl Groups {
    fn learn(&self, group: &Entry) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).insert(group.id.clone(), group.clone());
    }
}

impl Host {
    /// The volume groups of a VIOS.
    pub(super) async fn volume_groups(&self, vios: &str) -> Result<Vec<VolumeGroup>, Error> {
        let read = async {
            let groups = self.client().volume_group_entries(vios).await;
            let groups = groups.map_err(|error| self.failed("reading the volume groups of a VIOS", error))?;
            for group in &groups {
                self.groups.learn(group);
            }
            Ok(groups)
        };
        Ok(self.groups.read.read(vios, read).await?.iter().map(VolumeGroup::read).collect())
    }

    /// Deletes a medium. That there is none is as good.
    pub(super) async fn delete_medium(&self, vios: &str, group: &str, name: &str) -> Result<(), Error> {
        // A group is changed as a whole: of many who do so at once, one gets through, and the others begin again.
        let turn = self.turn(&format!("volume group {group}"));
        let _turn = turn.lock().await;
        let last = self.groups.last.lock().unwrap_or_else(PoisonError::into_inner).remove(group);
        let deleted = self.client().delete_medium_from(vios, group, name, last).await;
        self.groups.learn(&deleted.map_err(|error| self.failed(format!("deleting medium {name}"), error))?);
        Ok(())
    }
}
