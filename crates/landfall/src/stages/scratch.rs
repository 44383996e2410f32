//! A place where another program may work.

use std::{fs, os::unix::fs::DirBuilderExt as _, path::Path, path::PathBuf};

use landfall_workdir::{Error, STATE_DIRECTORY, WorkDir};

/// A directory that only its owner may enter. It is gone in the end; what a killed run left in it goes with the next run's.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(dir: &WorkDir) -> Result<Self, Error> {
        let path = dir.path(STATE_DIRECTORY).join("scratch");
        // The other program outlives a run that is killed, and may be writing in it still.
        let _next_run_removes_it = fs::remove_dir_all(&path);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(|source| Error::Write { path: path.clone(), source })?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _next_run_removes_it = fs::remove_dir_all(&self.0);
    }
}
