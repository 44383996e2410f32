//! Storing what another program wrote and did not sync.

use std::{io, path::Path};

use crate::disk::{Disk, Os};

/// Waits until a directory and everything below it are on stable storage. What disappears meanwhile is not waited for, and a directory that does not
/// exist has nothing to wait for. Links are not followed.
pub fn sync_tree(directory: &Path) -> io::Result<()> {
    sync_on(&Os, directory, true)
}

/// Waits until a directory and the files in it are on stable storage, without the directories below it.
pub fn sync_files(directory: &Path) -> io::Result<()> {
    sync_on(&Os, directory, false)
}

fn sync_on(disk: &impl Disk, directory: &Path, descend: bool) -> io::Result<()> {
    sync_below(disk, directory, descend)?;
    match directory.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => unless_gone(disk.sync(parent)),
        _ => Ok(()),
    }
}

fn sync_below(disk: &impl Disk, directory: &Path, descend: bool) -> io::Result<()> {
    let entries = match disk.list(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for (path, is_directory) in entries {
        match (is_directory, descend) {
            (false, _) => unless_gone(disk.sync(&path))?,
            (true, true) => sync_below(disk, &path, true)?,
            (true, false) => {}
        }
    }
    unless_gone(disk.sync(directory))
}

fn unless_gone(synced: io::Result<()>) -> io::Result<()> {
    match synced {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    const FILES: [&str; 3] =
        ["/etc/kubernetes/admin.conf", "/etc/kubernetes/pki/ca.crt", "/etc/kubernetes/pki/etcd/ca.key"];

    /// A tree as kubeadm leaves it.
    fn written() -> Model {
        let model = Model::with_root(false);
        for directory in ["/etc", "/etc/kubernetes", "/etc/kubernetes/pki", "/etc/kubernetes/pki/etcd"] {
            model.create_directory(Path::new(directory)).unwrap();
        }
        model.sync(Path::new("/")).unwrap();
        for file in FILES {
            model.create(Path::new(file), b"secret", 0o600).unwrap();
        }
        model
    }

    #[test]
    fn everything_below_is_there_after_a_loss_of_power() {
        let model = written();
        assert!(FILES.iter().all(|file| model.after_loss(Path::new(file)).is_none()), "kubeadm does not sync");
        sync_on(&model, Path::new("/etc/kubernetes"), true).unwrap();
        for file in FILES {
            assert_eq!(model.after_loss(Path::new(file)).as_deref(), Some(&b"secret"[..]), "{file}");
        }
    }

    #[test]
    fn a_failure_is_reported() {
        for operations in 0..7 {
            let model = written();
            model.lose_power_after(operations);
            let stored = sync_on(&model, Path::new("/etc/kubernetes"), true).is_ok();
            let found = FILES.iter().filter(|file| model.after_loss(Path::new(file)).is_some()).count();
            assert!(!stored || found == FILES.len(), "after {operations} operations {found} files are stored");
            assert!(!stored, "{operations} operations are not enough");
        }
    }

    #[test]
    fn files_of_a_real_directory_are_synced_and_none_is_missed_that_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        sync_tree(&directory.path().join("nothing")).unwrap();
        std::fs::create_dir_all(directory.path().join("pki/etcd")).unwrap();
        std::fs::write(directory.path().join("pki/etcd/ca.key"), "").unwrap();
        std::os::unix::fs::symlink("nowhere", directory.path().join("current")).unwrap();
        sync_tree(directory.path()).unwrap();
        sync_files(directory.path()).unwrap();
    }
}
