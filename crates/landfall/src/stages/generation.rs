//! How far the cluster of a directory is, and what follows for the files that it is made from.

use landfall_dns::is_dns;
use landfall_engine::{Journal, Snapshot};
use landfall_platform::InfraId;
use landfall_workdir::{FROZEN, FROZEN_FILES, Frozen, IDENTITY, Locked, WorkDir};

use super::kubernetes::SECRETS;
use crate::{
    cluster::{ASSET_HOST, JOURNAL, METADATA},
    error::Error,
    gather::KNOWN_HOSTS,
};

/// How far the cluster of a directory is.
#[derive(Debug)]
pub(super) enum Generation {
    /// Nothing was made yet: files may change.
    New,
    /// Something may exist on the platform: files stay what they were when it was begun.
    Begun(Box<Frozen>),
    /// All of it is gone again.
    Destroyed(InfraId),
}

impl Generation {
    /// Reads journal and record of a directory.
    pub(super) fn of(dir: &WorkDir) -> anyhow::Result<Self> {
        let Some(snapshot) = Journal::read_begun(&dir.path(JOURNAL))? else {
            // The journal is older than the record, so it was lost.
            return Ok(dir.frozen()?.map_or(Self::New, |frozen| Self::Begun(Box::new(frozen))));
        };
        if is_destroyed(&snapshot) {
            return Ok(Self::Destroyed(snapshot.infra_id));
        }
        if !has_begun(&snapshot) {
            return Ok(Self::New);
        }
        let frozen = dir.frozen()?.filter(|frozen| frozen.infra_id == snapshot.infra_id);
        let frozen = frozen.ok_or_else(|| Error::FrozenGone { infra_id: snapshot.infra_id.clone() })?;
        Ok(Self::Begun(Box::new(frozen)))
    }
}

/// Moves what belongs to a cluster that is gone to `.landfall/past`, so that another one begins with an infra id and keys of its
/// own. The journal goes last: as long as it is there, the next run does the rest.
pub(super) fn retire(locked: &Locked, infra_id: &InfraId) -> landfall_workdir::Result<()> {
    locked.retire(infra_id, &[IDENTITY, METADATA, SECRETS, ASSET_HOST, KNOWN_HOSTS, FROZEN_FILES, FROZEN, JOURNAL])
}

/// Returns true if something was made on the platform and all of it is gone. Records alone come and go with 'landfall dns'.
fn is_destroyed(snapshot: &Snapshot) -> bool {
    has_begun(snapshot) && snapshot.remaining().next().is_none()
}

/// Returns true if anything of the platform was to be made.
pub(crate) fn has_begun(snapshot: &Snapshot) -> bool {
    snapshot.entries.iter().any(|entry| !is_dns(&entry.spec.kind))
}
