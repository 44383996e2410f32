//! Files that are written whole or not at all.

use std::{fs, io::Write as _, os::unix::fs::PermissionsExt as _, path::Path};

use crate::Error;

/// Writes a file that everybody may read, unless it has these contents already. Returns whether it was written.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<bool, Error> {
    write_with_mode(path, contents.as_ref(), 0o644)
}

/// The same for a file with secrets, which only root may read.
pub fn write_private(path: &Path, contents: impl AsRef<[u8]>) -> Result<bool, Error> {
    write_with_mode(path, contents.as_ref(), 0o600)
}

/// Removes a file. One that is not there counts as removed.
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file("remove", path)(error)),
        _ => Ok(()),
    }
}

fn write_with_mode(path: &Path, contents: &[u8], mode: u32) -> Result<bool, Error> {
    if fs::read(path).is_ok_and(|present| present == contents) {
        return Ok(false);
    }
    // A reader sees the old or the new file, also if the machine loses its power in between.
    let directory = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory).map_err(Error::file("create", directory))?;
    let written = tempfile::NamedTempFile::new_in(directory).and_then(|mut file| {
        file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
        file.write_all(contents)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error).map(drop)
    });
    written.map_err(Error::file("write", path))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
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
