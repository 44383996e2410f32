//! What an earlier attempt to join has left on the disk.

use std::{io, path::Path};

use landfall_assets::node::paths;

use crate::{
    Error,
    kube::{ADMIN_CONFIG, KUBELET_CONFIG},
};

/// Where etcd keeps its data, once it has any.
const ETCD_DATA: &str = "/var/lib/etcd/member";
/// etcd's manifest, where the kubelet reads it and where the renewal of certificates lays it aside.
const ETCD_MANIFESTS: [&str; 2] = ["/etc/kubernetes/manifests/etcd.yaml", "/etc/kubernetes/landfall-aside/etcd.yaml"];

/// Says that this machine's member has left etcd. Stored before anything of it is removed, and there until all of it is.
pub(super) const MEMBER_LEFT: &str = "/var/lib/landfall/join.member-left";

/// What an earlier attempt to join has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is there or not, whatever the others are")]
pub(super) struct Remains {
    /// `kubeadm join` was started, and what it did was not taken back. Stored before kubeadm starts.
    pub(super) begun: bool,
    /// The machine's member has left etcd: what there is of its data belongs to nobody, and has to go.
    pub(super) left: bool,
    /// Identities with which the cluster can be asked.
    pub(super) credentials: bool,
    /// The identity for the kubelet's first contact, or manifests.
    pub(super) traces: bool,
    /// etcd's data or its manifest: this machine may hold a member, and with it a part of the cluster's only data.
    pub(super) member: bool,
}

impl Remains {
    /// Looks below `root`, which is `/` except in tests. Fails if it cannot be told what is there: what cannot be read may be a member.
    pub(super) fn look(root: &Path) -> Result<Self, Error> {
        let at = |path: &str| root.join(path.trim_start_matches('/'));
        let has = |path: &str| {
            let path = at(path);
            path.try_exists().map_err(Error::file("look for", path))
        };
        let mut member = has(ETCD_DATA)?;
        for manifest in ETCD_MANIFESTS {
            member |= has(manifest)?;
        }
        Ok(Self {
            begun: has(paths::JOIN_BEGUN)?,
            left: has(MEMBER_LEFT)?,
            credentials: has(KUBELET_CONFIG)? || has(ADMIN_CONFIG)?,
            traces: has("/etc/kubernetes/bootstrap-kubelet.conf")? || has_entries(&at("/etc/kubernetes/manifests"))?,
            member,
        })
    }

    /// Returns true if kubeadm would refuse the machine.
    pub(super) fn any(self) -> bool {
        self.credentials || self.traces || self.member
    }
}

fn has_entries(directory: &Path) -> Result<bool, Error> {
    match directory.read_dir() {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::file("list", directory)(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn whatever_may_be_a_member_of_etcd_is_seen() {
        for (file, expected) in [
            ("var/lib/etcd/member/wal/0.wal", Remains { member: true, ..Remains::default() }),
            ("etc/kubernetes/manifests/etcd.yaml", Remains { member: true, traces: true, ..Remains::default() }),
            ("etc/kubernetes/landfall-aside/etcd.yaml", Remains { member: true, ..Remains::default() }),
            ("etc/kubernetes/manifests/kube-apiserver.yaml", Remains { traces: true, ..Remains::default() }),
            ("etc/kubernetes/kubelet.conf", Remains { credentials: true, ..Remains::default() }),
            ("etc/kubernetes/admin.conf", Remains { credentials: true, ..Remains::default() }),
            ("var/lib/landfall/join.begun", Remains { begun: true, ..Remains::default() }),
            ("var/lib/landfall/join.member-left", Remains { left: true, ..Remains::default() }),
        ] {
            let root = tempfile::tempdir().unwrap();
            assert_eq!(Remains::look(root.path()).unwrap(), Remains::default());
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            assert_eq!(Remains::look(root.path()).unwrap(), expected, "{file}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_taken_for_nothing() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("var/lib")).unwrap();
        // A file where a directory must be: the system cannot say whether there is data below it.
        fs::write(root.path().join("var/lib/etcd"), "").unwrap();
        let error = Remains::look(root.path()).unwrap_err().to_string();
        assert!(error.starts_with("cannot look for ") && error.ends_with("var/lib/etcd/member"), "{error}");
    }
}
