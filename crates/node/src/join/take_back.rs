//! Taking back what a broken attempt left.

use std::{fs, io, path::Path};

use landfall_assets::{MachineRole, node::paths};
use landfall_durable::sync_files;

use super::remains::MEMBER_LEFT;
use crate::{
    Error,
    etcd::{Etcd, Leaving},
    kube::Access,
    kubeadm::Kubeadm,
    machine::Machine,
    stored,
};

/// Where etcd keeps its data.
const ETCD: &str = "/var/lib/etcd";

/// Takes back what is left on the disk. The marks go last: for as long as there may be something, they say so.
pub(super) async fn take_back() -> Result<(), Error> {
    tracing::info!("taking back what an earlier attempt left");
    Kubeadm::reset(false).await?;
    remove_left_data(Path::new(MEMBER_LEFT), Path::new(ETCD))?;
    stored::remove(Path::new(MEMBER_LEFT))?;
    stored::remove(Path::new(paths::JOIN_BEGUN))
}

/// Removes the data of a member that has left etcd. kubeadm looks for them where etcd's manifest says, and removes none if a loss of power has
/// emptied that.
fn remove_left_data(mark: &Path, etcd: &Path) -> Result<(), Error> {
    if !mark.try_exists().map_err(Error::file("look for", mark))? {
        return Ok(());
    }
    let data = etcd.join("member");
    match fs::remove_dir_all(&data) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::file("remove", data)(error)),
        _ => {}
    }
    sync_files(etcd).map_err(Error::file("sync", etcd))
}

/// Has this machine's member leave etcd, as another machine of the control plane confirms, and marks that it has. Fails if the others cannot do
/// without it.
pub(super) async fn leave_etcd(machine: &Machine) -> Result<(), Error> {
    let own = machine.addresses().await?.addresses;
    let leaving = Leaving { name: &machine.name, addresses: &own };
    let etcd = Etcd::of_this_machine()?;
    let nodes = Access::of(machine).nodes().await?;
    let others = nodes.iter().filter(|node| node.role != MachineRole::Worker && node.name != machine.name);
    let mut last = Error::NotYet("no other machine of the control plane is known that has etcd's data".to_owned());
    for address in others.filter_map(|node| node.addresses.first()) {
        match etcd.take_back(&leaving, &Etcd::on(*address)).await {
            Ok(()) => return stored::mark(Path::new(MEMBER_LEFT), format!("{}\n", jiff::Timestamp::now())),
            Err(error @ Error::NotYet(_)) => return Err(error),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_go_only_when_their_member_has_left() {
        let machine = tempfile::tempdir().unwrap();
        let (mark, etcd) = (machine.path().join("left"), machine.path().join("etcd"));
        fs::create_dir_all(etcd.join("member/wal")).unwrap();
        remove_left_data(&mark, &etcd).unwrap();
        assert!(etcd.join("member/wal").exists());
        fs::write(&mark, "").unwrap();
        for _ in 0..2 {
            remove_left_data(&mark, &etcd).unwrap();
            assert!(etcd.exists() && !etcd.join("member").exists());
        }
    }
}
