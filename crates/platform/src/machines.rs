//! Machines: one set of verbs for the installer, the machine controller and Nova.

use std::net::IpAddr;

use async_trait::async_trait;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::StepError;

/// The machines of one cluster on one platform.
///
/// **Who calls.** The installer makes the control plane with these verbs, the machine controller makes, replaces and fences
/// workers with them. Any number of calls may run side by side, for different machines.
///
/// **What an implementation guarantees.** Only machines that carry the cluster's exact mark are seen and touched; a machine of
/// that name without it is an error for `ensure` and does not exist for the other verbs. A machine whose id is given is that
/// one, whatever its name has become: it does not exist only if the platform does not know the id, and an id whose machine has
/// neither the mark nor the name is an error. Every verb may be cut off at any await and called again, and does nothing if all
/// is as wanted. `list` costs one call per page, never one per machine.
///
/// **What it must not do.** Retry: an error's class says whether the caller should.
///
/// **Adding a platform.** Keep what the platform needs to know of a machine (sizes, networks, images) in a type of your own
/// that [`MachineSpec::platform`] is read into; nothing here grows with the number of platforms.
#[async_trait]
pub trait Machines: Send + Sync {
    /// Makes a machine exist and run. `progress` hears how far it has come.
    async fn ensure(&self, spec: &MachineSpec, progress: Progress<'_>) -> Result<Machine, StepError>;

    /// All machines of the cluster, as far as the platform can be asked. That none of it can is an error.
    async fn list(&self) -> Result<Listing, StepError>;

    /// One machine.
    async fn get(&self, machine: MachineRef<'_>) -> Result<Option<Machine>, StepError>;

    /// Brings a machine into a state of power, and returns when it is there. A machine that does not exist is an error.
    async fn power(&self, machine: MachineRef<'_>, wish: Power) -> Result<(), StepError>;

    /// Makes a machine not exist, and others of its name with the mark, and returns when they are gone. Disks that the machine
    /// was not made with are kept.
    async fn delete(&self, machine: MachineRef<'_>, progress: Progress<'_>) -> Result<(), StepError>;
}

/// A machine that a verb is about.
///
/// A name may be changed by hand, and another machine may get it. So the id decides wherever it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineRef<'a> {
    /// The name that it was made with.
    pub name: &'a str,
    /// Its id on the platform, once it was told.
    pub id: Option<&'a str>,
}

impl<'a> MachineRef<'a> {
    /// A machine as Kubernetes knows it. The id is the last part of a provider id: `ovirt://<id>`,
    /// `ibmpowervs://<region>/<zone>/<workspace>/<id>`.
    pub fn known(name: &'a str, provider_id: Option<&'a str>) -> Self {
        let id = provider_id.and_then(|id| id.rsplit('/').next()).filter(|id| !id.is_empty());
        Self { name, id }
    }

    /// Returns true if an id or, as long as none is known, a name is that of the machine.
    pub fn is(&self, id: &str, name: &str) -> bool {
        self.id.map_or(self.name == name, |own| own.eq_ignore_ascii_case(id))
    }
}

impl<'a> From<&'a str> for MachineRef<'a> {
    /// A machine of which only the name is known.
    fn from(name: &'a str) -> Self {
        Self { name, id: None }
    }
}

/// The machines of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Those that are known.
    pub machines: Vec<Machine>,
    /// Parts of the platform that do not answer. What is not listed may be there, and is not known to be gone.
    pub silent: Vec<String>,
}

impl From<Vec<Machine>> for Listing {
    /// Of a platform that has answered as a whole.
    fn from(machines: Vec<Machine>) -> Self {
        Self { machines, silent: Vec::new() }
    }
}

/// Hears how far a verb has come, for people.
pub type Progress<'a> = &'a (dyn Fn(String) + Send + Sync);

/// A machine as it is wanted.
#[derive(Clone, Debug)]
pub struct MachineSpec {
    /// Its name on the platform, which is its host name too.
    pub name: String,
    /// What it is started with: an Ignition config, which holds secrets.
    pub user_data: SecretString,
    /// Size, network and image, as the platform understands them.
    pub platform: serde_json::Value,
}

/// A machine as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// Its id on the platform.
    pub id: String,
    /// What Kubernetes calls it: `ovirt://<id>`.
    pub provider_id: String,
    /// Whether it runs.
    pub power: PowerState,
    /// The platform's own word for its state.
    pub state: String,
    /// Addresses that its guest reports.
    pub addresses: Vec<IpAddr>,
}

/// Whether a machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PowerState {
    /// It is being made or removed.
    Pending,
    /// It is off.
    Off,
    /// It is about to run.
    Starting,
    /// It runs.
    On,
    /// It is about to be off.
    Stopping,
    /// It is halted and holds its resources.
    Paused,
    /// The platform does not know.
    Unknown,
}

/// What power a machine is wished to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// Running.
    On,
    /// Off at once, as if its plug were pulled: for machines that must not run another instant.
    Off,
    /// Off after its operating system was asked to end.
    ShutDown,
    /// Started afresh.
    Reset,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_known_decides() {
        let known = MachineRef::known("a", Some("ibmpowervs://us-south/dal10/5-6/7-8"));
        assert_eq!(known.id, Some("7-8"));
        assert!(known.is("7-8", "renamed") && !known.is("9", "a"));
        let named = MachineRef::known("a", None);
        assert!(named.is("9", "a") && !named.is("9", "b"));
        assert_eq!(MachineRef::known("a", Some("")).id, None);
    }
}
