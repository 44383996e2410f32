//! PowerVS for the machine controller: its provider specs, the Secret with its credentials, and the pools of its load balancers.

use std::{collections::BTreeSet, net::IpAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use landfall_config::powervs::ServiceEndpoints;
use landfall_machine_api::provider::{PowerVSMachineProviderConfig, PowervsResource};
use landfall_platform::{
    Connection, Endpoint, ErrorClass, InfraId, Machine, MachineProvider, ProviderCredentials, StepError, WantedMachine,
};
use landfall_wire::Trust;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::{
    Credentials, Error, Machines, Mark, Site, Whereabouts,
    machines::{Named, Vm},
    plan::{control_listeners, ingress_listeners},
    steps::rearrange,
};

/// PowerVS for the machine controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Provider;

impl MachineProvider for Provider {
    fn kind(&self) -> &'static str {
        "PowerVSMachineProviderConfig"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["ibmpowervs"]
    }

    fn allows_doubles(&self) -> bool {
        true
    }

    fn connect(
        &self,
        credentials: &ProviderCredentials,
        infra_id: &InfraId,
        interval: Duration,
    ) -> Result<Connection, StepError> {
        let value = |key: &str| credentials.get(key).map(SecretString::expose_secret).filter(|text| !text.is_empty());
        let wrong = |key: &str, reason: &str| {
            StepError::new(ErrorClass::Auth, format!("the Secret with the credentials of PowerVS {reason} '{key}'"))
        };
        let required = |key: &str| value(key).ok_or_else(|| wrong(key, "lacks"));
        let key = required("ibmcloud_api_key")?;
        let trust = value("ca_bundle").map_or(Trust::System, |bundle| Trust::Only(bundle.to_owned()));
        let endpoints = value("service_endpoints").map(serde_json::from_str::<ServiceEndpoints>).transpose();
        let endpoints = endpoints.map_err(|_| wrong("service_endpoints", "has an unusable"))?.unwrap_or_default();
        let credentials = Credentials::with_key(key.into(), trust, endpoints);
        let text = |key: &str| value(key).map(str::to_owned);
        let whereabouts = Whereabouts {
            zone: required("zone")?.to_owned(),
            vpc_region: text("vpc_region"),
            resource_group: text("resource_group"),
            workspace: text("service_instance_guid"),
            endpoints: ServiceEndpoints::default(),
            given: Vec::new(),
        };
        let client = Arc::new(whereabouts.client(&credentials)?);
        let site = Site::new(client, infra_id, whereabouts, &credentials, interval);
        let endpoint: Arc<dyn Endpoint> = Arc::new(Pools { site: site.clone() });
        Ok(Connection { machines: Arc::new(Machines { site }), endpoint: Some(endpoint) })
    }

    fn machine(&self, wanted: &WantedMachine<'_>) -> Result<Value, StepError> {
        wanted.suffix()?;
        let mark = Mark::new(wanted.infra_id.clone());
        let spec: PowerVSMachineProviderConfig = wanted.spec()?;
        let resource = |resource: &PowervsResource, what: &str, pattern: bool| {
            named(resource, pattern).map_err(|reason| wanted.invalid(format_args!("names a {what} that {reason}")))
        };
        resource(&spec.service_instance, "workspace", false)?;
        let processors = spec.processors.number().filter(|number| *number >= 0.0);
        let processors = processors.ok_or_else(|| wanted.invalid("gives processors that are no number"))?;
        let proc_type = if spec.processor_type.is_empty() { "Shared" } else { &spec.processor_type };
        let usual = if proc_type == "Dedicated" { 1.0 } else { 0.5 };
        let machine = Vm {
            name: wanted.name.to_owned(),
            id: None,
            image: resource(&spec.image, "image", false)?,
            network: resource(&spec.network, "network", true)?,
            key: Some(spec.key_pair_name).filter(|key| !key.is_empty()),
            sys_type: Some(spec.system_type).filter(|kind| !kind.is_empty()),
            proc_type: proc_type.to_ascii_lowercase(),
            processors: if processors > 0.0 { processors } else { usual },
            memory_gib: if spec.memory_gib > 0 { spec.memory_gib } else { 32 },
            storage_type: spec.storage_type.unwrap_or_else(|| "tier3".to_owned()),
            tags: vec![mark.tag()],
            ignition: format!("{}.ign", wanted.role),
            boot_object: None,
            boot_link: Duration::ZERO,
        };
        Ok(serde_json::to_value(machine).expect("a machine has string keys only"))
    }
}

/// What a provider spec means, or what is wrong with it.
fn named(resource: &PowervsResource, pattern: bool) -> Result<Named, String> {
    let given = |text: &Option<String>, field: &str| {
        text.clone()
            .filter(|text| !text.is_empty())
            .ok_or_else(|| format!("is of type {} and has no {field}", resource.kind))
    };
    match resource.kind.as_str() {
        "ID" => given(&resource.id, "id").map(Named::Id),
        "Name" => given(&resource.name, "name").map(Named::Name),
        "RegEx" if pattern => given(&resource.regex, "regex").map(Named::Pattern),
        other => Err(format!("cannot be given as '{other}'")),
    }
}

/// The pools of the load balancers: those of the API lead to masters, those of the ingress to where applications are.
struct Pools {
    site: Site,
}

impl Pools {
    async fn lead(&self, pools: Kind, machines: &[Machine]) -> Result<(), Error> {
        let members = addresses(machines);
        if members.is_empty() {
            return Ok(());
        }
        let all = self.site.client.load_balancers().await?;
        let exists =
            |is_public: bool| all.iter().any(|balancer| balancer.name == self.site.mark.load_balancer(is_public));
        // A cluster that is reached from inside has one of them, and one whose user balances the load has none.
        for is_public in [true, false].into_iter().filter(|is_public| exists(*is_public)) {
            let listeners = match pools {
                Kind::Api => control_listeners(is_public),
                Kind::Ingress if is_public == exists(true) => ingress_listeners(),
                Kind::Ingress => continue,
            };
            let name = self.site.mark.load_balancer(is_public);
            rearrange(&self.site, &name, &listeners, |_| members.clone(), &|_| ()).await?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Api,
    Ingress,
}

fn addresses(machines: &[Machine]) -> BTreeSet<IpAddr> {
    machines.iter().filter_map(|machine| machine.addresses.first().copied()).collect()
}

#[async_trait]
impl Endpoint for Pools {
    async fn lead_to(&self, masters: &[Machine]) -> Result<(), StepError> {
        Ok(self.lead(Kind::Api, masters).await?)
    }

    async fn lead_ingress_to(&self, machines: &[Machine]) -> Result<(), StepError> {
        Ok(self.lead(Kind::Ingress, machines).await?)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde_json::json;

    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "callers write the value down where they call")]
    fn read(spec: Value) -> Result<Vm, String> {
        let infra_id = "demo-x7k2p".parse().unwrap();
        let wanted =
            WantedMachine { name: "demo-x7k2p-worker-a", role: "worker", infra_id: &infra_id, provider_spec: &spec };
        let value = Provider.machine(&wanted).map_err(|error| error.to_string())?;
        Ok(Vm::deserialize(value).unwrap())
    }

    fn spec() -> Value {
        json!({
            "kind": "PowerVSMachineProviderConfig", "userDataSecret": {"name": "u"}, "credentialsSecret": {"name": "c"},
            "serviceInstance": {"type": "ID", "id": "1"}, "image": {"type": "Name", "name": "rhcos"},
            "network": {"type": "RegEx", "regex": "^DHCPSERVER.*demo-x7k2p.*_Private$"}, "keyPairName": "k",
            "processors": "0.5", "memoryGiB": 16,
        })
    }

    #[test]
    fn an_object_of_the_existing_provider_is_read_as_it_is() {
        let machine = read(spec()).unwrap();
        assert_eq!((machine.processors, machine.memory_gib, machine.proc_type.as_str()), (0.5, 16, "shared"));
        assert!(machine.network.is("2", "DHCPSERVERdemo-x7k2p-network_Private"));
        assert_eq!(machine.key.as_deref(), Some("k"));
    }

    #[test]
    fn what_can_never_be_made_is_refused() {
        for (field, value, reason) in [
            ("image", json!({"type": "RegEx", "regex": ".*"}), "cannot be given as 'RegEx'"),
            ("image", json!({"type": "ID"}), "has no id"),
            ("processors", json!("many"), "are no number"),
        ] {
            let mut spec = spec();
            spec[field] = value;
            let error = read(spec).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_secret_that_lacks_something_says_what() {
        let error = Provider.connect(&ProviderCredentials::new(), &"demo-x7k2p".parse().unwrap(), Duration::ZERO);
        assert_eq!(
            error.err().unwrap().to_string(),
            "the Secret with the credentials of PowerVS lacks 'ibmcloud_api_key'"
        );
    }
}
