//! The install directory itself.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{Error, Holder, Identity, Locked, Record, Result, lock, names};

/// An install directory. Reading it needs no lock; only [`Locked`] can be written to.
#[derive(Debug)]
pub struct WorkDir {
    root: PathBuf,
}

impl WorkDir {
    /// Opens a directory that exists.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let root = root.into();
        match fs::metadata(&root) {
            Ok(metadata) if metadata.is_dir() => Ok(Self { root }),
            Ok(_) => Err(Error::NotADirectory { path: root }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Error::Missing { path: root }),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(Error::NotADirectory { path: root }),
            Err(source) => Err(Error::Read { path: root, source }),
        }
    }

    /// Opens a directory, which is made first if it does not exist.
    pub fn open_or_make(root: impl Into<PathBuf>) -> Result<Self> {
        let root = root.into();
        match Self::open(&root) {
            Err(Error::Missing { path }) => match fs::create_dir_all(&path) {
                Ok(()) => Ok(Self { root }),
                Err(source) => Err(Error::Write { path, source }),
            },
            opened => opened,
        }
    }

    /// Takes the lock, so that no other run can write. Does not wait: whoever is at work may be so for an hour.
    pub fn lock(self, holder: &Holder) -> Result<Locked> {
        Locked::take(self, holder)
    }

    /// Who is at work in it, if somebody is.
    pub fn holder(&self) -> Option<Holder> {
        lock::holder(self)
    }

    /// The directory's path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of a file in it.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// What Landfall has written into it so far.
    pub fn record(&self) -> Result<Record> {
        self.read(names::RECORD)?.map_or_else(|| Ok(Record::default()), |file| Record::parse(&file.contents))
    }

    /// The cluster that it belongs to, once there is one.
    pub fn identity(&self) -> Result<Option<Identity>> {
        self.read(names::IDENTITY)?.map(|file| Identity::parse(&file.contents)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_wrong_with_the_directory() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(WorkDir::open(&file), Err(Error::NotADirectory { .. })));
        assert!(matches!(WorkDir::open(file.join("below")), Err(Error::NotADirectory { .. })));
        assert!(matches!(WorkDir::open(temp.path().join("none")), Err(Error::Missing { .. })));
    }

    #[test]
    fn damaged_files_are_errors_with_advice() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join(names::STATE_DIRECTORY)).unwrap();
        fs::write(temp.path().join(names::RECORD), "").unwrap();
        fs::write(temp.path().join(names::IDENTITY), r#"{"infraId": "../x", "clusterName": "x"}"#).unwrap();
        let dir = WorkDir::open(temp.path()).unwrap();
        assert!(dir.record().unwrap_err().hint().unwrap().contains("put back a copy"));
        assert!(dir.identity().unwrap_err().hint().unwrap().contains("put back a copy"));
    }
}
