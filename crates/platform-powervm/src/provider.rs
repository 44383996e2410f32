//! PowerVM for the machine controller: its provider specs, and the Secret with its credentials.

use std::{sync::Arc, time::Duration};

use landfall_config::powervm::{
    Network, OpenVswitch, SharedEthernet, SharedStoragePool, Sharing, Storage, VolumeGroup,
};
use landfall_machine_api::provider::PowerVMMachineProviderSpec;
use landfall_platform::{
    Connection, ErrorClass, InfraId, MachineProvider, ProviderCredentials, StepError, WantedMachine,
};
use landfall_wire::Images;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use crate::{
    Credentials, Site,
    machines::{Machines, Partition},
};

/// The longest name that a partition can have.
const MAX_NAME: usize = 31;

/// PowerVM for the machine controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Provider;

impl MachineProvider for Provider {
    fn kind(&self) -> &'static str {
        "PowerVMMachineProviderSpec"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["powervm"]
    }

    /// A name is unique on one server only, and a request that was late may have gone to another than the next one.
    fn allows_doubles(&self) -> bool {
        true
    }

    fn connect(
        &self,
        credentials: &ProviderCredentials,
        infra_id: &InfraId,
        interval: Duration,
    ) -> Result<Connection, StepError> {
        let wrong = |reason: String| {
            let reason = format!("the Secret with the credentials of PowerVM {reason}");
            StepError::new(ErrorClass::Auth, reason)
        };
        let text = credentials.get("hosts").ok_or_else(|| wrong("lacks 'hosts'".to_owned()))?;
        let credentials = Credentials::parse(text.expose_secret());
        let credentials = credentials.map_err(|reason| wrong(format!("has unusable 'hosts': {reason}")))?;
        let site = Site::new(&credentials.hosts(), &credentials, infra_id, interval)?;
        let images = Images::new(std::env::temp_dir().join("landfall-images"));
        Ok(Connection { machines: Arc::new(Machines { site, images }), endpoint: None })
    }

    fn machine(&self, wanted: &WantedMachine<'_>) -> Result<Value, StepError> {
        wanted.suffix()?;
        let name = wanted.name;
        if name.len() > MAX_NAME {
            let reason = format!("the name {name} is longer than the {MAX_NAME} characters of a partition's");
            return Err(StepError::new(ErrorClass::Invalid, reason));
        }
        let partition = partition(wanted, wanted.spec()?).map_err(|reason| wanted.invalid(reason))?;
        Ok(serde_json::to_value(partition).expect("a machine has string keys only"))
    }
}

/// The machine that a provider spec describes.
fn partition(wanted: &WantedMachine<'_>, spec: PowerVMMachineProviderSpec) -> Result<Partition, String> {
    let sharing = match spec.sharing.as_str() {
        "" | "uncapped" => Sharing::Uncapped,
        "capped" => Sharing::Capped,
        "dedicated" => Sharing::Dedicated,
        other => return Err(format!("has '{other}' for sharing, which is none of uncapped, capped and dedicated")),
    };
    let units = spec.processing_units.number().ok_or("gives processing units that are no number")?;
    let whole = f64::from(spec.processors);
    let processing_units = match sharing {
        Sharing::Dedicated => whole,
        _ if units > 0.0 => units,
        _ => whole / 2.0,
    };
    let storage = match (spec.shared_storage_pool, spec.volume_group) {
        (Some(pool), None) => Storage::SharedStoragePool(SharedStoragePool { name: pool.name, tier: pool.tier }),
        (None, Some(name)) => Storage::VolumeGroup(VolumeGroup { name }),
        _ => return Err("gives neither or both of sharedStoragePool and volumeGroup".to_owned()),
    };
    let network = match (spec.shared_ethernet, spec.open_vswitch) {
        (Some(own), None) => {
            Network::SharedEthernet(SharedEthernet { vlan: own.vlan, virtual_switch: own.virtual_switch })
        }
        (None, Some(bridge)) => Network::OpenVswitch(OpenVswitch { bridge }),
        _ => return Err("gives neither or both of sharedEthernet and openVswitch".to_owned()),
    };
    Ok(Partition {
        id: None,
        name: wanted.name.to_owned(),
        role: wanted.role.to_owned(),
        hosts: spec.hosts,
        processors: spec.processors,
        processing_units,
        sharing,
        memory_mib: u64::from(spec.memory_gib) * 1024,
        compatibility_mode: Some(spec.compatibility_mode).filter(|mode| !mode.is_empty()),
        disk_gib: spec.disk_gib,
        storage: Some(storage),
        image: spec.image,
        network: Some(network),
        ignition: format!("{}.ign", wanted.role),
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde_json::json;

    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "callers write the value down where they call")]
    fn read(name: &str, changes: Value) -> Result<Partition, String> {
        let mut spec = json!({
            "apiVersion": "powervmproviderconfig.machine.openshift.io/v1beta1", "kind": "PowerVMMachineProviderSpec",
            "userDataSecret": { "name": "worker-user-data" }, "credentialsSecret": { "name": "powervm-credentials" },
            "processors": 4, "processingUnits": "0.50", "memoryGiB": 16, "diskGiB": 120,
            "sharedStoragePool": {}, "image": "fcos", "sharedEthernet": { "vlan": 100, "virtualSwitch": "ETHERNET0" },
        });
        for (key, value) in changes.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let infra_id = "demo-x7k2p".parse().unwrap();
        let wanted = WantedMachine { name, role: "worker", infra_id: &infra_id, provider_spec: &spec };
        let value = Provider.machine(&wanted).map_err(|error| error.to_string())?;
        Ok(Partition::deserialize(value).unwrap())
    }

    #[test]
    #[allow(clippy::float_cmp, reason = "halves are exact")]
    fn what_the_manifests_say_is_read() {
        let machine = read("demo-x7k2p-worker-a", json!({})).unwrap();
        assert_eq!((machine.processing_units, machine.memory_mib, machine.sharing), (0.5, 16_384, Sharing::Uncapped));
        let machine = read("demo-x7k2p-worker-a", json!({ "sharing": "dedicated" })).unwrap();
        assert_eq!(machine.processing_units, 4.0);
        assert_eq!(read("demo-x7k2p-a", json!({ "processingUnits": "" })).unwrap().processing_units, 2.0);
    }

    #[test]
    fn what_can_never_be_made_is_refused() {
        for (name, changes, reason) in [
            ("other-worker-a", json!({}), "does not begin with demo-x7k2p-"),
            ("demo-x7k2p-a-very-long-name-it-is", json!({}), "longer than the 31 characters"),
            ("demo-x7k2p-a", json!({ "sharing": "sometimes" }), "none of uncapped"),
            ("demo-x7k2p-a", json!({ "processingUnits": "many" }), "no number"),
            ("demo-x7k2p-a", json!({ "volumeGroup": "datavg" }), "neither or both of sharedStoragePool"),
            ("demo-x7k2p-a", json!({ "sharedEthernet": null }), "neither or both of sharedEthernet"),
            ("demo-x7k2p-a", json!({ "image": null }), "is not understood"),
        ] {
            let error = read(name, changes).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_secret_that_lacks_something_says_what() {
        let infra_id = "demo-x7k2p".parse().unwrap();
        let error = Provider.connect(&ProviderCredentials::new(), &infra_id, Duration::ZERO).err().unwrap();
        assert_eq!(error.to_string(), "the Secret with the credentials of PowerVM lacks 'hosts'");
        assert_eq!(error.class(), ErrorClass::Auth);
    }
}
