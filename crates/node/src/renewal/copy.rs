//! A copy of what a renewal replaces.
//!
//! kubeadm writes certificates and keys in place and syncs none. After a loss of power they may be empty, or a key may not belong to its
//! certificate, and kubeadm renews no certificate that it cannot read. So the old files are stored beside before it begins; a renewal that
//! was cut off puts them back and begins anew.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::certificate_files;
use crate::{Error, stored};

/// Below `/etc/kubernetes`.
const DIRECTORY: &str = "landfall-renewal";
/// In the directory once the copy is complete.
const COMPLETE: &str = "complete";

/// Stores a copy. `kubernetes` is `/etc/kubernetes`, except in tests.
pub(super) fn keep(kubernetes: &Path) -> Result<(), Error> {
    discard(kubernetes)?;
    let directory = kubernetes.join(DIRECTORY);
    for path in files(kubernetes) {
        let contents = fs::read(&path).map_err(Error::file("read", &path))?;
        let name = path.strip_prefix(kubernetes).unwrap_or(&path);
        stored::write_private(&directory.join(name), contents)?;
    }
    stored::mark(&directory.join(COMPLETE), "")
}

/// Puts the old files back if a renewal was cut off. Does nothing otherwise.
pub(super) fn put_back(kubernetes: &Path) -> Result<(), Error> {
    let directory = kubernetes.join(DIRECTORY);
    if directory.join(COMPLETE).exists() {
        tracing::warn!("a renewal was cut off: the old certificates are put back");
        for path in kept(&directory)? {
            let contents = fs::read(&path).map_err(Error::file("read", &path))?;
            let place = kubernetes.join(path.strip_prefix(&directory).unwrap_or(&path));
            if place.extension().is_some_and(|extension| extension == "crt") {
                stored::write(&place, contents)?;
            } else {
                stored::write_private(&place, contents)?;
            }
        }
    }
    discard(kubernetes)
}

/// Removes the copy: what replaced it is stored.
pub(super) fn discard(kubernetes: &Path) -> Result<(), Error> {
    let directory = kubernetes.join(DIRECTORY);
    // First the word that it is complete: half a copy must not be put back.
    stored::remove(&directory.join(COMPLETE))?;
    match fs::remove_dir_all(&directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::file("remove", directory)(error)),
        _ => Ok(()),
    }
}

/// All that kubeadm renews on this machine.
fn files(kubernetes: &Path) -> Vec<PathBuf> {
    let certificates = certificate_files(kubernetes).into_iter().map(|file| file.path);
    let with_key = |path: PathBuf| {
        let key = Some(path.with_extension("key")).filter(|key| *key != path && key.exists());
        [Some(path), key].into_iter().flatten()
    };
    certificates.flat_map(with_key).collect()
}

fn kept(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(Error::file("list", directory))? {
        let path = entry.map_err(Error::file("list", directory))?.path();
        if path.is_dir() {
            found.extend(kept(&path)?);
        } else if path.file_name().is_some_and(|name| name != COMPLETE) {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const OLD: [(&str, u32); 5] = [
        ("admin.conf", 0o600),
        ("pki/apiserver.crt", 0o644),
        ("pki/apiserver.key", 0o600),
        ("pki/etcd/peer.crt", 0o644),
        ("pki/etcd/peer.key", 0o600),
    ];

    fn machine() -> tempfile::TempDir {
        let machine = tempfile::tempdir().unwrap();
        fs::create_dir_all(machine.path().join("pki/etcd")).unwrap();
        for (file, _) in OLD {
            fs::write(machine.path().join(file), format!("old {file}")).unwrap();
        }
        fs::write(machine.path().join("pki/ca.key"), "authority").unwrap();
        machine
    }

    #[test]
    fn a_renewal_that_was_cut_off_leaves_the_old_certificates() {
        let machine = machine();
        keep(machine.path()).unwrap();
        for (file, _) in OLD {
            // As it is after a loss of power: kubeadm had written it anew and not synced it.
            fs::write(machine.path().join(file), "").unwrap();
        }
        put_back(machine.path()).unwrap();
        for (file, mode) in OLD {
            let path = machine.path().join(file);
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("old {file}"));
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{file}");
        }
        assert!(!machine.path().join(DIRECTORY).exists());
        assert_eq!(fs::read_to_string(machine.path().join("pki/ca.key")).unwrap(), "authority");
    }

    #[test]
    fn half_a_copy_and_one_of_a_finished_renewal_are_not_put_back() {
        let machine = machine();
        let path = machine.path().join("pki/apiserver.crt");
        keep(machine.path()).unwrap();
        fs::write(&path, "new").unwrap();
        fs::remove_file(machine.path().join(DIRECTORY).join(COMPLETE)).unwrap();
        put_back(machine.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        keep(machine.path()).unwrap();
        discard(machine.path()).unwrap();
        put_back(machine.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }
}
