//! Handing the host's resolver over to the machine's own server, and giving it back.

use std::{
    fs,
    net::IpAddr,
    path::{Path, PathBuf},
};

use super::ResolvConf;
use crate::{Error, program::Program, stored};

/// The drop-in by which systemd-resolved is told.
pub const RESOLVED_DROPIN: &str = "/etc/systemd/resolved.conf.d/60-landfall.conf";

/// Where the resolver has its settings.
#[derive(Clone, Debug)]
pub struct Places {
    /// The file that programs read.
    pub resolv_conf: PathBuf,
    /// What systemd-resolved knows of the site's servers.
    pub resolved: PathBuf,
    /// The drop-in for systemd-resolved.
    pub dropin: PathBuf,
    /// Where the host's own file is kept meanwhile.
    pub kept: PathBuf,
}

impl Places {
    /// Those of a host.
    pub fn of_host(state: &Path) -> Self {
        Self {
            resolv_conf: "/etc/resolv.conf".into(),
            resolved: "/run/systemd/resolve/resolv.conf".into(),
            dropin: RESOLVED_DROPIN.into(),
            kept: state.join("resolv.conf"),
        }
    }
}

/// The resolver of the host.
#[derive(Clone, Debug)]
pub struct Handover {
    places: Places,
    own: IpAddr,
    domain: String,
}

impl Handover {
    /// For a server on `own`, for a cluster of this domain.
    pub fn new(places: Places, own: IpAddr, domain: impl Into<String>) -> Self {
        Self { places, own, domain: domain.into() }
    }

    /// What the site says, whatever Landfall has made of it.
    pub fn site(&self) -> ResolvConf {
        let read = |path: &Path| fs::read_to_string(path).ok();
        if self.is_resolved() {
            return ResolvConf::read(&read(&self.places.resolved).unwrap_or_default());
        }
        let present = read(&self.places.resolv_conf).filter(|text| !ResolvConf::is_ours(text));
        ResolvConf::read(&present.or_else(|| read(&self.places.kept)).unwrap_or_default())
    }

    /// Hands over. To be called again from time to time: a DHCP client may write the file anew, and what it wrote is then the
    /// site's word.
    pub async fn ensure(&self) -> Result<(), Error> {
        if self.is_resolved() {
            let text = format!("[Resolve]\nDNS={}\nDomains=~{}\n", self.own, self.domain);
            if stored::write(&self.places.dropin, text)? {
                restart_resolved().await?;
                tracing::info!("systemd-resolved asks this machine for the cluster's names");
            }
            return Ok(());
        }
        let path = &self.places.resolv_conf;
        let present = fs::read_to_string(path).unwrap_or_default();
        if !ResolvConf::is_ours(&present) {
            stored::write(&self.places.kept, &present)?;
        }
        let wanted = self.site().with_own(self.own, &self.domain);
        if present != wanted {
            replace(path, &wanted)?;
            tracing::info!(file = %path.display(), "this machine asks itself for names");
        }
        Ok(())
    }

    /// Gives back, if the settings are still Landfall's.
    pub async fn give_back(&self) -> Result<(), Error> {
        if self.places.dropin.exists() {
            stored::remove(&self.places.dropin)?;
            restart_resolved().await?;
        }
        let path = &self.places.resolv_conf;
        if fs::read_to_string(path).is_ok_and(|text| ResolvConf::is_ours(&text)) {
            let kept = fs::read_to_string(&self.places.kept).map_err(Error::file("read", &self.places.kept))?;
            replace(path, &kept)?;
            tracing::info!(file = %path.display(), "given back");
        }
        Ok(())
    }

    /// Whether systemd-resolved is the host's resolver: then the file is a link to one of its own.
    fn is_resolved(&self) -> bool {
        let target = fs::read_link(&self.places.resolv_conf).unwrap_or_default();
        target.to_string_lossy().contains("systemd/resolve") && self.places.resolved.exists()
    }
}

/// In place if it cannot be replaced: in a container it may be mounted from outside.
#[expect(clippy::disallowed_methods, reason = "what is mounted from outside cannot be replaced, only written over")]
fn replace(path: &Path, text: &str) -> Result<(), Error> {
    match stored::write(path, text) {
        Ok(_) => Ok(()),
        Err(_) => fs::write(path, text).map_err(Error::file("write", path)),
    }
}

async fn restart_resolved() -> Result<(), Error> {
    Program::new("systemctl", ["try-reload-or-restart", "systemd-resolved.service"]).run().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handover(dir: &Path) -> Handover {
        let places = Places {
            resolv_conf: dir.join("resolv.conf"),
            resolved: dir.join("no-resolved"),
            dropin: dir.join("dropin.conf"),
            kept: dir.join("kept"),
        };
        Handover::new(places, "198.51.100.21".parse().unwrap(), "demo.example.com")
    }

    #[tokio::test]
    async fn the_host_gets_back_what_it_had() {
        let dir = tempfile::tempdir().unwrap();
        let (handover, path) = (handover(dir.path()), dir.path().join("resolv.conf"));
        let site = "nameserver 192.0.2.53\n";
        fs::write(&path, site).unwrap();
        handover.ensure().await.unwrap();
        let ours = fs::read_to_string(&path).unwrap();
        assert!(ours.contains("nameserver 198.51.100.21\nnameserver 192.0.2.53\n"), "{ours}");
        assert_eq!(handover.site(), ResolvConf::read(site), "the site's word is still known");
        handover.ensure().await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), ours, "again changes nothing");
        handover.give_back().await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), site);
    }

    #[tokio::test]
    async fn what_a_dhcp_client_writes_later_is_the_sites_word() {
        let dir = tempfile::tempdir().unwrap();
        let (handover, path) = (handover(dir.path()), dir.path().join("resolv.conf"));
        fs::write(&path, "nameserver 192.0.2.53\n").unwrap();
        handover.ensure().await.unwrap();
        let renewed = "nameserver 192.0.2.54\n";
        fs::write(&path, renewed).unwrap();
        handover.ensure().await.unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains("nameserver 198.51.100.21\nnameserver 192.0.2.54\n"));
        handover.give_back().await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), renewed);
    }

    #[tokio::test]
    async fn after_a_crash_the_kept_file_is_not_lost() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("resolv.conf");
        fs::write(&path, "nameserver 192.0.2.53\n").unwrap();
        handover(dir.path()).ensure().await.unwrap();
        // Another process begins, and finds its predecessor's file.
        let next = handover(dir.path());
        next.ensure().await.unwrap();
        next.give_back().await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "nameserver 192.0.2.53\n");
    }
}
