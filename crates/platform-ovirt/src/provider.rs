//! oVirt for the machine controller: its provider specs, and the Secret with its credentials.

use std::{sync::Arc, time::Duration};

use landfall_machine_api::provider::OvirtMachineProviderSpec;
use landfall_platform::{
    Connection, ErrorClass, InfraId, MachineProvider, ProviderCredentials, StepError, WantedMachine,
};
use landfall_wire::{Limits, Trust};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::{Client, Machines, Size, Vm, client::EngineUrl, site::Site};

/// oVirt for the machine controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Provider;

impl MachineProvider for Provider {
    fn kind(&self) -> &'static str {
        "OvirtMachineProviderSpec"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["ovirt"]
    }

    fn connect(
        &self,
        credentials: &ProviderCredentials,
        infra_id: &InfraId,
        interval: Duration,
    ) -> Result<Connection, StepError> {
        let value = |key: &str| credentials.get(key).map(SecretString::expose_secret).filter(|text| !text.is_empty());
        let required = |key: &str| {
            let reason = format!("the Secret with the credentials of oVirt lacks '{key}'");
            value(key).ok_or_else(|| StepError::new(ErrorClass::Auth, reason))
        };
        let engine: EngineUrl = required("ovirt_url")?.parse().map_err(StepError::from)?;
        let trust = match value("ovirt_ca_bundle") {
            _ if value("ovirt_insecure") == Some("true") => Trust::Unverified,
            Some(bundle) => Trust::Only(bundle.to_owned()),
            None => Trust::System,
        };
        let (user, password) = (required("ovirt_username")?, required("ovirt_password")?);
        let client = Client::new(engine, &trust, Limits::default(), user, password.into())?;
        let machines = Machines { site: Site::new(Arc::new(client), infra_id, interval) };
        Ok(Connection { machines: Arc::new(machines), endpoint: None })
    }

    fn machine(&self, wanted: &WantedMachine<'_>) -> Result<Value, StepError> {
        wanted.suffix()?;
        let vm = vm(wanted, wanted.spec()?).map_err(|reason| wanted.invalid(reason))?;
        Ok(serde_json::to_value(vm).expect("a machine has string keys only"))
    }
}

/// The machine that a provider spec describes. Fields that the existing machine provider leaves empty count as not given.
fn vm(wanted: &WantedMachine<'_>, spec: OvirtMachineProviderSpec) -> Result<Vm, &'static str> {
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let size = match (filled(spec.instance_type_id), spec.cpu, spec.memory_mb) {
        (Some(id), ..) => Size::InstanceType(id),
        (None, Some(cpu), Some(memory_mib)) => Size::Custom {
            sockets: cpu.sockets,
            cores: cpu.cores,
            threads: cpu.threads,
            memory_mib,
            guaranteed_memory_mib: spec.guaranteed_memory_mb.filter(|&mib| mib > 0).unwrap_or(memory_mib),
        },
        _ => {
            return Err("gives neither instance_type_id nor cpu and memory_mb");
        }
    };
    if spec.network_interfaces.len() > 1 {
        return Err("gives more than one network interface");
    }
    Ok(Vm {
        name: wanted.name.to_owned(),
        id: None,
        role: wanted.role.to_owned(),
        cluster_id: spec.cluster_id,
        template: spec.template_name,
        storage_domain_id: filled(spec.storage_domain_id),
        vnic_profile_id: spec.network_interfaces.into_iter().next().map(|interface| interface.vnic_profile_id),
        size,
        os_disk_gib: spec.os_disk.size_gb,
        clone: spec.clone.unwrap_or(spec.vm_type != "desktop"),
        kind: spec.vm_type,
        sparse: spec.sparse,
        format: filled(spec.format),
        hugepages: spec.hugepages.filter(|&kib| kib > 0),
        pinned: spec.auto_pinning_policy.as_deref() == Some("resize_and_pin"),
        high_availability: wanted.role == "master",
        affinity_groups: spec.affinity_groups_names,
        tag: wanted.infra_id.to_string(),
        ignition: format!("{}.ign", wanted.role),
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde_json::json;

    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "callers write the value down where they call")]
    fn read(name: &str, changes: Value) -> Result<Vm, String> {
        let mut spec = json!({
            "apiVersion": "ovirtproviderconfig.machine.openshift.io/v1beta1", "kind": "OvirtMachineProviderSpec",
            "userDataSecret": { "name": "worker-user-data" }, "credentialsSecret": { "name": "ovirt-credentials" },
            "id": "", "name": "", "template_name": "fcos", "cluster_id": "c1", "instance_type_id": "",
            "cpu": { "sockets": 1, "cores": 4, "threads": 1 }, "memory_mb": 16_348, "os_disk": { "size_gb": 120 },
            "type": "server", "auto_pinning_policy": "none", "hugepages": 0,
        });
        for (key, value) in changes.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let infra_id = "demo-x7k2p".parse().unwrap();
        let wanted = WantedMachine { name, role: "worker", infra_id: &infra_id, provider_spec: &spec };
        let value = Provider.machine(&wanted).map_err(|error| error.to_string())?;
        Ok(Vm::deserialize(value).unwrap())
    }

    #[test]
    fn what_the_existing_provider_writes_is_read() {
        let vm = read("demo-x7k2p-worker-a", json!({})).unwrap();
        assert_eq!((vm.clone, vm.storage_domain_id, vm.hugepages, vm.pinned), (true, None, None, false));
        let size = Size::Custom { sockets: 1, cores: 4, threads: 1, memory_mib: 16_348, guaranteed_memory_mib: 16_348 };
        assert_eq!(vm.size, size);
        assert!(!read("demo-x7k2p-worker-a", json!({ "type": "desktop" })).unwrap().clone);
    }

    #[test]
    fn what_can_never_be_made_is_refused() {
        for (name, changes, reason) in [
            ("other-worker-a", json!({}), "does not begin with demo-x7k2p-"),
            ("demo-x7k2pq", json!({}), "does not begin with demo-x7k2p-"),
            ("demo-x7k2p-a", json!({ "cpu": null }), "gives neither"),
            ("demo-x7k2p-a", json!({ "os_disk": null }), "is not understood"),
        ] {
            let error = read(name, changes).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_secret_that_lacks_something_says_what() {
        let keys = [("ovirt_url", "https://engine.example.com/ovirt-engine/api"), ("ovirt_username", "admin@internal")];
        let keys = keys.map(|(key, value)| (key.to_owned(), SecretString::from(value))).into();
        let infra_id = "demo-x7k2p".parse().unwrap();
        let error = Provider.connect(&keys, &infra_id, Duration::ZERO).err().unwrap();
        assert_eq!(error.to_string(), "the Secret with the credentials of oVirt lacks 'ovirt_password'");
        assert_eq!(error.class(), ErrorClass::Auth);
    }
}
