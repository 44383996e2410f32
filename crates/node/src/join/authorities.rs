//! The cluster's authorities, for a master that joins when there is no bootstrap machine any more.
//!
//! During the installation kubeadm hands them from machine to machine, encrypted, for two hours. Later a master gets them with its config, and
//! keeps them apart from where kubeadm looks for them: taking back a broken attempt empties that place.

use std::path::Path;

use crate::{Error, stored};

/// All that the masters of a cluster share, below the directory of certificates.
pub(crate) const FILES: [&str; 8] =
    ["ca.crt", "ca.key", "etcd/ca.crt", "etcd/ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.key", "sa.pub"];

/// Puts the authorities where kubeadm looks for them, if the machine came with any.
pub(super) fn put_in_place(from: &Path, to: &Path) -> Result<(), Error> {
    if !from.exists() {
        return Ok(());
    }
    for file in FILES {
        let path = from.join(file);
        let contents = std::fs::read(&path).map_err(Error::file("read", &path))?;
        if is_key(file) {
            stored::write_private(&to.join(file), contents)?;
        } else {
            stored::write(&to.join(file), contents)?;
        }
    }
    Ok(())
}

/// Removes the machine's second copy, when it has joined.
pub(super) fn remove(from: &Path) -> Result<(), Error> {
    FILES.iter().try_for_each(|file| stored::remove(&from.join(file)))
}

fn is_key(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "key")
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    #[test]
    fn authorities_are_put_in_place_again_and_again() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("pki"));
        put_in_place(&from, &to).unwrap();
        assert!(!to.exists(), "most machines come with none");
        fs::create_dir_all(from.join("etcd")).unwrap();
        for file in FILES {
            fs::write(from.join(file), file).unwrap();
        }
        for _ in 0..2 {
            put_in_place(&from, &to).unwrap();
            assert_eq!(fs::read_to_string(to.join("etcd/ca.key")).unwrap(), "etcd/ca.key");
            assert_eq!(fs::metadata(to.join("ca.key")).unwrap().permissions().mode() & 0o777, 0o600);
            fs::remove_dir_all(&to).unwrap();
        }
        fs::remove_file(from.join("sa.pub")).unwrap();
        assert!(put_in_place(&from, &to).is_err(), "half of them are none");
        remove(&from).unwrap();
        assert!(!from.join("ca.key").exists());
    }
}
