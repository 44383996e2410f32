//! Changes that are complete or have not happened, and that stay once they are reported.

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::disk::{Disk, Os};

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Every user of the machine.
    Public,
    /// Only its owner: it holds a secret.
    Private,
}

impl Access {
    const fn mode(self) -> u32 {
        match self {
            Self::Public => 0o644,
            Self::Private => 0o600,
        }
    }
}

/// Replaces a file or creates it, and its directory where that is missing. After a crash at any moment the file has its old or its new
/// contents; once this has returned, it has the new ones.
pub fn write(path: &Path, contents: impl AsRef<[u8]>, access: Access) -> io::Result<()> {
    write_on(&Os, path, contents.as_ref(), access)
}

/// Renames a file within a file system, in the place of the file that has the name. Its contents are stored first, so that one which was
/// written piece by piece takes its name only when it is whole. Once this has returned, it stays renamed.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    rename_on(&Os, from, to)
}

/// Removes a file. One that does not exist counts as removed. Once this has returned, it does not come back.
pub fn remove(path: &Path) -> io::Result<()> {
    remove_on(&Os, path)
}

fn write_on(disk: &impl Disk, path: &Path, contents: &[u8], access: Access) -> io::Result<()> {
    let directory = directory_of(path);
    create_directories(disk, directory)?;
    let beside = create_beside(disk, path, contents, access.mode())?;
    let written = disk.sync(&beside).and_then(|()| disk.rename(&beside, path));
    if let Err(error) = written {
        // The cause counts; what is left beside is in no one's way.
        let _ = disk.remove(&beside);
        return Err(error);
    }
    disk.sync(directory)
}

fn rename_on(disk: &impl Disk, from: &Path, to: &Path) -> io::Result<()> {
    disk.sync(from)?;
    disk.rename(from, to)?;
    let (left, entered) = (directory_of(from), directory_of(to));
    disk.sync(entered)?;
    if left == entered { Ok(()) } else { disk.sync(left) }
}

fn remove_on(disk: &impl Disk, path: &Path) -> io::Result<()> {
    match disk.remove(path) {
        // An earlier attempt may have removed it and died before the directory was stored.
        Err(error) if error.kind() == io::ErrorKind::NotFound => match disk.sync(directory_of(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            synced => synced,
        },
        removed => removed.and_then(|()| disk.sync(directory_of(path))),
    }
}

/// Creates the directories that are missing, each stored in its parent before anything is put into it.
fn create_directories(disk: &impl Disk, directory: &Path) -> io::Result<()> {
    if disk.is_directory(directory)? {
        return Ok(());
    }
    let parent = directory_of(directory);
    create_directories(disk, parent)?;
    match disk.create_directory(directory) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => created?,
    }
    disk.sync(parent)
}

/// Writes the contents to a new file beside `path`. Its name begins with a dot: the kubelet and systemd pass over such files in the
/// directories that they read.
fn create_beside(disk: &impl Disk, path: &Path, contents: &[u8], mode: u32) -> io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::other("the path ends in no file name"))?;
    loop {
        let mut beside = std::ffi::OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}-{}.new", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let beside = path.with_file_name(beside);
        match disk.create(&beside, contents, mode) {
            Ok(()) => return Ok(beside),
            // A process that had this id has died and left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                let _ = disk.remove(&beside);
                return Err(error);
            }
        }
    }
}

pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) => Path::new("."),
        None => path,
    }
}

#[cfg(test)]
mod tests;
