//! What kubeadm and the kubelet wrote, on stable storage.

use std::{fs, io, path::Path};

use landfall_durable::{sync_files, sync_tree};

use crate::{Error, stored};

const KUBERNETES: &str = "/etc/kubernetes";
const KUBELET: &str = "/var/lib/kubelet";
const KUBELET_PKI: &str = "/var/lib/kubelet/pki";

/// Waits until all that kubeadm wrote is stored, which it does not do itself. What pods have on a node is not waited for.
pub(crate) fn store() -> Result<(), Error> {
    for (directory, sync) in
        [(KUBERNETES, sync_tree as fn(&Path) -> io::Result<()>), (KUBELET_PKI, sync_tree), (KUBELET, sync_files)]
    {
        sync(Path::new(directory)).map_err(Error::file("sync", directory))?;
    }
    Ok(())
}

/// Removes files that a loss of power has left empty. kubeadm takes every file that is there, and fails on these; one that is missing it makes anew.
pub(crate) fn remove_empty() -> Result<(), Error> {
    remove_empty_in(Path::new(KUBERNETES))?;
    remove_empty_in(Path::new(KUBELET_PKI))
}

fn remove_empty_in(directory: &Path) -> Result<(), Error> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::file("list", directory))?,
    };
    for entry in entries {
        let path = entry.map_err(Error::file("list", directory))?.path();
        // A link is as good as the file that it leads to.
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => remove_empty_in(&path)?,
            Ok(metadata) if metadata.len() > 0 => {}
            _ => {
                tracing::warn!(file = %path.display(), "removed: it was empty after a loss of power");
                stored::remove(&path)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_files_and_links_to_them_are_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("pki/etcd")).unwrap();
        for (file, contents) in
            [("admin.conf", "users"), ("pki/ca.key", "key"), ("pki/etcd/server.crt", ""), ("old.pem", "")]
        {
            fs::write(at(file), contents).unwrap();
        }
        std::os::unix::fs::symlink("old.pem", at("current.pem")).unwrap();
        std::os::unix::fs::symlink("admin.conf", at("link.conf")).unwrap();
        for _ in 0..2 {
            remove_empty_in(directory.path()).unwrap();
            for (file, is_kept) in [
                ("admin.conf", true),
                ("link.conf", true),
                ("pki/ca.key", true),
                ("pki/etcd/server.crt", false),
                ("old.pem", false),
                ("current.pem", false),
            ] {
                assert_eq!(at(file).symlink_metadata().is_ok(), is_kept, "{file}");
            }
        }
        remove_empty_in(&at("nothing")).unwrap();
    }
}
