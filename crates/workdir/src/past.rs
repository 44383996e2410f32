//! What is left of clusters that were destroyed: `.landfall/past/<infra id>`.

use std::{fs, io};

use landfall_platform::InfraId;

use crate::{Error, Locked, Result, WorkDir, disk::make_directory, names};

impl Locked {
    /// Moves what belongs to a cluster that is gone out of the way, in the order given, so that another can begin.
    ///
    /// What is not there is passed over: a run that died half-way is finished by the next, as long as the last path is the one
    /// that tells that there is something to move.
    #[expect(clippy::disallowed_methods, reason = "each name is stored before the next is changed")]
    pub fn retire(&self, infra_id: &InfraId, paths: &[&str]) -> Result<()> {
        let dir = self.dir();
        let past = dir.path(names::PAST);
        let own = past.join(infra_id.as_str());
        for directory in [&past, &own] {
            match make_directory(directory, true) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Error::Write { path: directory.clone(), source: error });
                }
                _ => {}
            }
        }
        for path in paths {
            let from = dir.path(path);
            let Some(name) = from.file_name() else { continue };
            let moved = fs::rename(&from, own.join(name));
            match moved {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                moved => moved.map_err(|source| Error::Write { path: from.clone(), source })?,
            }
            // In this order on the disk too.
            for directory in from.parent().into_iter().chain([own.as_path(), past.as_path()]) {
                let synced = fs::File::open(directory).and_then(|directory| directory.sync_all());
                synced.map_err(|source| Error::Write { path: directory.to_owned(), source })?;
            }
        }
        Ok(())
    }
}

impl WorkDir {
    /// Returns true if a cluster of this directory was destroyed and moved out of the way.
    pub fn has_past(&self) -> bool {
        self.path(names::PAST).is_dir()
    }
}
