//! Restarting the programs of the control plane, which the kubelet runs from manifests in a directory.
//!
//! Taking a manifest away stops its program, and putting it back starts it again: the way that kubeadm's documentation
//! describes. A manifest that was taken away and not put back, because the machine lost its power, is put back first of all.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    net::TcpStream,
    time::{Instant, sleep},
};

use crate::{Error, stored};

/// Programs in the order in which they are restarted, with the port by which one sees that they run.
const PROGRAMS: &[(&str, u16)] =
    &[("etcd", 2379), ("kube-apiserver", 6443), ("kube-controller-manager", 10257), ("kube-scheduler", 10259)];
/// The kubelet looks at its directory every 20 s, and an API server takes its time to finish what it has begun.
const LIMIT: Duration = Duration::from_mins(5);

/// Restarts all of them, one after the other. `kubernetes` is `/etc/kubernetes`.
pub(super) async fn restart_all(kubernetes: &Path) -> Result<(), Error> {
    for (name, port) in PROGRAMS {
        let (manifest, aside) = places(kubernetes, name);
        if !manifest.exists() {
            continue;
        }
        tracing::info!(program = name, "restarts to take its new certificates");
        fs::create_dir_all(aside.parent().unwrap_or(kubernetes)).map_err(Error::file("create", &aside))?;
        stored::rename(&manifest, &aside)?;
        let stopped = wait(*port, false).await;
        // Put back whatever came of it: a control plane with an old certificate is better than none.
        stored::rename(&aside, &manifest)?;
        stopped?;
        wait(*port, true).await?;
    }
    Ok(())
}

/// Puts back what an earlier run took away.
pub(super) fn put_back(kubernetes: &Path) -> Result<(), Error> {
    for (name, _) in PROGRAMS {
        let (manifest, aside) = places(kubernetes, name);
        if aside.exists() {
            tracing::warn!(program = name, "putting back a manifest that was left aside");
            stored::rename(&aside, &manifest)?;
        }
    }
    Ok(())
}

fn places(kubernetes: &Path, name: &str) -> (PathBuf, PathBuf) {
    let file = format!("{name}.yaml");
    (kubernetes.join("manifests").join(&file), kubernetes.join("landfall-aside").join(file))
}

async fn wait(port: u16, up: bool) -> Result<(), Error> {
    let begun = Instant::now();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    while TcpStream::connect(address).await.is_ok() != up {
        if begun.elapsed() > LIMIT {
            let awaited =
                if up { "the start of a control-plane program" } else { "the end of a control-plane program" };
            return Err(Error::Timeout { awaited, limit: LIMIT, evidence: format!("port {port} on this machine") });
        }
        sleep(Duration::from_millis(500)).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_that_was_left_aside_is_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let (manifest, aside) = places(dir.path(), "etcd");
        for path in [&manifest, &aside] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        fs::write(&aside, "pod").unwrap();
        put_back(dir.path()).unwrap();
        assert_eq!(fs::read_to_string(&manifest).unwrap(), "pod");
        assert!(!aside.exists());
        put_back(dir.path()).unwrap();
    }
}
