//! The operations from which a durable change is made. A trait, so that a test can lose power at each of them.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// Operations on a file system.
pub(crate) trait Disk {
    /// Creates a file that does not exist yet, with these contents and these permissions.
    fn create(&self, path: &Path, contents: &[u8], mode: u32) -> io::Result<()>;
    /// Waits until a file's contents, or a directory's names, are on stable storage.
    fn sync(&self, path: &Path) -> io::Result<()>;
    /// Gives a file another name, in the place of the file that has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Creates a directory whose parent exists.
    fn create_directory(&self, path: &Path) -> io::Result<()>;
    /// Returns true if there is a directory.
    fn is_directory(&self, path: &Path) -> io::Result<bool>;
    /// Lists the files and directories in a directory, with true for directories. Links are left out: they are names only.
    fn list(&self, directory: &Path) -> io::Result<Vec<(PathBuf, bool)>>;
}

/// The operating system's file system.
pub(crate) struct Os;

impl Disk for Os {
    fn create(&self, path: &Path, contents: &[u8], mode: u32) -> io::Result<()> {
        // Private until it is complete, whatever the umask.
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.write_all(contents)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        fs::File::open(path)?.sync_all()
    }

    #[expect(clippy::disallowed_methods, reason = "the one rename, which is followed by the directory's fsync")]
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn is_directory(&self, path: &Path) -> io::Result<bool> {
        match fs::metadata(path) {
            Ok(found) => Ok(found.is_dir()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() || kind.is_file() {
                entries.push((entry.path(), kind.is_dir()));
            }
        }
        Ok(entries)
    }
}
