//! What the machine controller needs of a platform besides the machine verbs.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{ErrorClass, InfraId, Machine, Machines, StepError};

/// How the machine controller reaches a platform and understands its provider specs.
///
/// **Who calls.** The controller picks the provider whose [`kind`](Self::kind) a Machine's provider spec has. It connects once
/// for each Secret with credentials, and again when that Secret changes. It calls [`machine`](Self::machine) before each
/// [`Machines::ensure`].
///
/// **Adding a platform.** Implement this beside `Machines`, add the type of the provider spec to the machine API, and name the
/// provider in the registry. The controllers know no platform.
#[async_trait]
pub trait MachineProvider: Send + Sync {
    /// The `kind` of its provider specs: `OvirtMachineProviderSpec`.
    fn kind(&self) -> &'static str;

    /// Schemes that provider ids of its machines may have, without `://`. The platform's own come first; others are those that older
    /// programs wrote for the same machines.
    fn schemes(&self) -> &'static [&'static str];

    /// Whether two requests with one name make two machines. Where they do, a request whose answer is not known is not repeated before it
    /// can have no effect any more.
    fn allows_doubles(&self) -> bool {
        false
    }

    /// Connects to the platform for one cluster. Nothing need be sent: wrong credentials may show at the first call.
    /// `interval` is how often something that is waited for may be looked at.
    fn connect(
        &self,
        credentials: &ProviderCredentials,
        infra_id: &InfraId,
        interval: Duration,
    ) -> Result<Connection, StepError>;

    /// What [`Machines::ensure`] is given for a machine. Pure. An error of class `Invalid` means that the machine can never be made
    /// as it is described.
    fn machine(&self, wanted: &WantedMachine<'_>) -> Result<Value, StepError>;
}

/// The keys of a Secret with credentials.
pub type ProviderCredentials = BTreeMap<String, SecretString>;

/// A machine as its object describes it.
#[derive(Clone, Copy, Debug)]
pub struct WantedMachine<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is for: `master`, `worker`.
    pub role: &'a str,
    /// Its cluster.
    pub infra_id: &'a InfraId,
    /// The platform's settings.
    pub provider_spec: &'a Value,
}

impl WantedMachine<'_> {
    /// An error that says why it can never be made.
    pub fn invalid(&self, reason: impl fmt::Display) -> StepError {
        StepError::new(ErrorClass::Invalid, format!("the provider spec of {} {reason}", self.name))
    }

    /// The platform's settings in its own type.
    pub fn spec<T: DeserializeOwned>(&self) -> Result<T, StepError> {
        T::deserialize(self.provider_spec).map_err(|error| self.invalid(format_args!("is not understood: {error}")))
    }

    /// What is behind the infra id in its name. The fleet of a cluster is told by that prefix, so a name without it is refused.
    pub fn suffix(&self) -> Result<&str, StepError> {
        let suffix = self.name.strip_prefix(self.infra_id.as_str()).and_then(|rest| rest.strip_prefix('-'));
        suffix.ok_or_else(|| {
            let reason = format!("the name {} does not begin with {}-", self.name, self.infra_id);
            StepError::new(ErrorClass::Invalid, reason)
        })
    }
}

/// A platform that is connected to.
#[derive(Clone)]
pub struct Connection {
    /// The machine verbs.
    pub machines: Arc<dyn Machines>,
    /// Keeps the cluster's API and ingress on healthy machines, where the platform has to.
    pub endpoint: Option<Arc<dyn Endpoint>>,
}

/// Keeps the cluster's API endpoint on healthy masters, and its ingress on healthy machines that run it: addresses to move, pools to
/// update. Platforms whose machines do so by themselves have none.
#[async_trait]
pub trait Endpoint: Send + Sync {
    /// Makes the endpoint lead to these masters only. Called with the masters whose nodes are ready, when they change and from time to time,
    /// never with none; does nothing if all is as wanted.
    async fn lead_to(&self, masters: &[Machine]) -> Result<(), StepError>;

    /// Makes the ingress lead to some of these machines: the workers whose nodes are ready, or the masters of a cluster without workers.
    /// Called as [`lead_to`](Self::lead_to) is, after it. A platform whose ingress needs nobody's care does nothing.
    async fn lead_ingress_to(&self, _serving: &[Machine]) -> Result<(), StepError> {
        Ok(())
    }
}

/// Whether two provider ids mean the same machine, where a platform's ids have these schemes.
pub fn same_provider_id(schemes: &[&str], a: &str, b: &str) -> bool {
    let bare = |id: &str| {
        schemes.iter().find_map(|scheme| id.strip_prefix(scheme)?.strip_prefix("://")).unwrap_or(id).to_owned()
    };
    a == b || bare(a) == bare(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_schemes_mean_the_same_machine() {
        let schemes = ["equinixmetal", "packet"];
        assert!(same_provider_id(&schemes, "equinixmetal://a", "packet://a"));
        assert!(!same_provider_id(&schemes, "equinixmetal://a", "packet://b"));
        assert!(!same_provider_id(&schemes, "equinixmetal://a", "ovirt://a"));
        assert!(!same_provider_id(&["ovirt"], "ovirt://a", "packet://a"));
    }
}
