//! kubeadm's commands.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use landfall_assets::node::paths;

use super::{Amendments, BootstrapToken, amend, kubelet_environment};
use crate::{Error, machine::Machine, program::Program, stored};

/// Longer than kubeadm's own limits, which are minutes.
const LIMIT: Duration = Duration::from_mins(15);

/// kubeadm with the configuration of this machine.
#[derive(Clone, Debug)]
pub struct Kubeadm {
    config: PathBuf,
}

impl Kubeadm {
    /// Completes the machine's configuration and tells the kubelet its addresses.
    pub async fn prepare(machine: &Machine, skip_phases: &[&str]) -> Result<Self, Error> {
        let source = PathBuf::from(machine.facts.kubeadm.as_ref().ok_or(Error::NoSuchFact("kubeadm configuration"))?);
        let text = std::fs::read_to_string(&source).map_err(Error::file("read", &source))?;
        let addresses = machine.addresses().await?;
        stored::write(Path::new(paths::KUBELET_ENVIRONMENT), kubelet_environment(&addresses.addresses))?;
        let amendments = Amendments { advertise: Some(addresses.main()), skip_phases, ..Amendments::default() };
        let config = machine.runtime.join("kubeadm.yaml");
        stored::write_private(&config, amend(&source, &text, amendments)?)?;
        Ok(Self { config })
    }

    /// Checks whether a control plane can be made here. Refuses a machine that already has one.
    pub async fn preflight(&self) -> Result<(), Error> {
        self.run(&["init", "phase", "preflight"]).await
    }

    /// Makes the first control plane. May be repeated: every phase takes what is there.
    pub async fn init(&self) -> Result<(), Error> {
        self.run(&["init", "--upload-certs"]).await
    }

    /// Puts the encrypted keys of the control plane, which masters need to join, into the cluster for another two hours.
    pub async fn upload_certificates(&self) -> Result<(), Error> {
        self.run(&["init", "phase", "upload-certs", "--upload-certs"]).await
    }

    /// Returns the tokens that machines join with, as if they were made now.
    pub(crate) fn tokens(&self, now: Timestamp) -> Result<Vec<BootstrapToken>, Error> {
        let text = std::fs::read_to_string(&self.config).map_err(Error::file("read", &self.config))?;
        BootstrapToken::read_all(&self.config, &text, now)
    }

    /// Takes back what `init` or `join` did to this machine. `keep_member` leaves etcd's membership alone.
    pub async fn reset(keep_member: bool) -> Result<(), Error> {
        let mut arguments = vec!["reset", "--force"];
        if keep_member {
            arguments.push("--skip-phases=remove-etcd-member");
        }
        Program::new("kubeadm", arguments).limit(LIMIT).run().await?;
        Ok(())
    }

    pub(super) async fn run(&self, arguments: &[&str]) -> Result<(), Error> {
        let config = self.config.display().to_string();
        let arguments = arguments.iter().copied().chain(["--config", config.as_str()]);
        let said = Program::new("kubeadm", arguments).limit(LIMIT).run().await?;
        for line in said.lines().filter(|line| line.starts_with('[')) {
            tracing::debug!(kubeadm = line);
        }
        Ok(())
    }
}
