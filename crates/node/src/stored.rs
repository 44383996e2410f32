//! Files that are written whole or not at all, and are there after a crash.

use std::{fs, path::Path};

use landfall_durable::Access;

use crate::Error;

/// Writes a file that every user may read, unless it has these contents already. Returns whether it was written.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<bool, Error> {
    write_changed(path, contents.as_ref(), Access::Public)
}

/// The same for a file with secrets, which only root may read.
pub fn write_private(path: &Path, contents: impl AsRef<[u8]>) -> Result<bool, Error> {
    write_changed(path, contents.as_ref(), Access::Private)
}

/// Writes a file whose presence counts. Unlike [`write`] it is stored again if it is there: what an earlier process wrote may be lost with
/// the power for as long as the directory is not stored.
pub fn mark(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Error> {
    landfall_durable::write(path, contents, Access::Public).map_err(Error::file("write", path))
}

/// Removes a file. One that does not exist counts as removed.
pub fn remove(path: &Path) -> Result<(), Error> {
    landfall_durable::remove(path).map_err(Error::file("remove", path))
}

/// Renames a file within a file system.
pub fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    landfall_durable::rename(from, to).map_err(Error::file("rename", from))
}

fn write_changed(path: &Path, contents: &[u8], access: Access) -> Result<bool, Error> {
    if fs::read(path).is_ok_and(|present| present == contents) {
        return Ok(false);
    }
    landfall_durable::write(path, contents, access).map_err(Error::file("write", path))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_changes_are_written_and_secrets_stay_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/file");
        assert!(write_private(&path, "secret").unwrap());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!write_private(&path, "secret").unwrap());
        assert!(write(&path, "public").unwrap());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        remove(&path).unwrap();
        remove(&path).unwrap();
    }
}
