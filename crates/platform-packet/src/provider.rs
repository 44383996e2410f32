//! Packet for the machine controller: its provider specs, the Secret with its credentials, and the addresses of API and ingress.

use std::{net::IpAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use landfall_config::packet::Location;
use landfall_machine_api::provider::PacketMachineProviderSpec;
use landfall_platform::{
    Connection, Endpoint, ErrorClass, InfraId, Machine, MachineProvider, ProviderCredentials, StepError, WantedMachine,
};
use landfall_wire::{Limits, Trust};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::{
    Client, Error, Machines, Mark, Project, Site,
    credentials::API,
    machines::{Candidate, Device, Price},
    steps::{is_beside, lead},
};

/// Packet for the machine controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Provider;

impl MachineProvider for Provider {
    fn kind(&self) -> &'static str {
        "PacketMachineProviderSpec"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["equinixmetal", "packet"]
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
            StepError::new(ErrorClass::Auth, format!("the Secret with the credentials of Packet {reason} '{key}'"))
        };
        let key = value("api_key").ok_or_else(|| wrong("api_key", "lacks"))?;
        let api = value("api_url").unwrap_or(API).parse().map_err(|_| wrong("api_url", "has an unusable"))?;
        let trust = value("ca_bundle").map_or(Trust::System, |bundle| Trust::Only(bundle.to_owned()));
        let project = value("project_id").map_or(Project::Own, |id| Project::Given(id.to_owned()));
        let client = Client::new(api, &trust, Limits::default(), key.into())?;
        let site = Site::new(Arc::new(client), infra_id, project, interval);
        let given = |key: &str| {
            let address = value(key).map(str::parse::<IpAddr>).transpose();
            address.map_err(|_| wrong(key, "has an unusable"))
        };
        let (api, ingress) = (given("api_address")?, given("ingress_address")?);
        let endpoint = (value("endpoint") == Some("eip"))
            .then(|| Arc::new(ElasticAddresses { site: site.clone(), api, ingress }) as Arc<dyn Endpoint>);
        let machines = Arc::new(Machines { site, script_url: None });
        Ok(Connection { machines, endpoint })
    }

    fn machine(&self, wanted: &WantedMachine<'_>) -> Result<Value, StepError> {
        let spec: PacketMachineProviderSpec = wanted.spec()?;
        let metros = spec.metros.iter().cloned().map(Location::Metro);
        let locations: Vec<Location> = metros.chain(spec.facilities.iter().cloned().map(Location::Facility)).collect();
        if locations.is_empty() || spec.machine_types.is_empty() {
            return Err(wanted.invalid("names no place or no machine type"));
        }
        let candidates = locations.iter().flat_map(|location| {
            spec.machine_types.iter().map(|plan| Candidate { location: location.clone(), plan: plan.clone() })
        });
        let price = match (spec.spot_price_max, spec.hardware_reservation_ids.is_empty()) {
            (Some(price), _) => Price::Spot(price),
            (None, true) => Price::OnDemand,
            (None, false) => Price::Reserved(spec.hardware_reservation_ids),
        };
        let mark = Mark::new(wanted.infra_id.clone());
        let device = Device {
            name: wanted.name.to_owned(),
            id: None,
            candidates: candidates.collect(),
            price,
            os: spec.os,
            script_url: spec.ipxe_script_url,
            tags: mark.tags(wanted.suffix()?, &spec.tags),
            billing_cycle: spec.billing_cycle.unwrap_or_else(|| "hourly".to_owned()),
            public_ipv4: spec.public_ipv4,
            public_ipv6: spec.ipv6,
            ssh_keys: spec.ssh_keys,
            users: spec.users,
            virtual_networks: spec.virtual_networks,
            bgp: spec.bgp,
            ignition: format!("{}.ign", wanted.role),
        };
        Ok(serde_json::to_value(device).expect("a machine has string keys only"))
    }
}

/// The elastic addresses of API and ingress, each of which leads to one machine at a time.
struct ElasticAddresses {
    site: Site,
    /// One that the user has; nothing is the cluster's own.
    api: Option<IpAddr>,
    ingress: Option<IpAddr>,
}

impl ElasticAddresses {
    /// Leaves an address where it is if that is one of the machines, else leads it to the first of them that it can lead to.
    async fn keep(&self, name: &str, given: Option<IpAddr>, machines: &[Machine]) -> Result<(), Error> {
        let project = self.site.project().await?;
        let blocks = self.site.client.blocks(&project).await?;
        let block = blocks.into_iter().find(|block| match given {
            Some(given) => block.network == given,
            None => self.site.mark.is_on(&block.tags) && Mark::name_in(&block.tags) == Some(name),
        });
        let object = format!("the address of the {}", if name == "api" { "API" } else { name });
        let Some(block) = block else { return Err(Error::Missing { object, api: self.site.client.host() }) };
        let holder = block.assignments.first().map(|assignment| assignment.assigned_to.id());
        if machines.iter().any(|machine| Some(machine.id.as_str()) == holder) {
            return Ok(());
        }
        let devices = self.site.devices().await?;
        let is_near = |machine: &&Machine| devices.iter().any(|own| own.id == machine.id && is_beside(&block, own));
        match machines.iter().find(is_near) {
            Some(machine) => lead(&self.site, &block, &machine.id).await,
            None => Err(Error::State { object, state: "in a metro where no healthy machine is".to_owned() }),
        }
    }
}

#[async_trait]
impl Endpoint for ElasticAddresses {
    async fn lead_to(&self, masters: &[Machine]) -> Result<(), StepError> {
        Ok(self.keep("api", self.api, masters).await?)
    }

    async fn lead_ingress_to(&self, serving: &[Machine]) -> Result<(), StepError> {
        Ok(self.keep("ingress", self.ingress, serving).await?)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde_json::json;

    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "callers write the value down where they call")]
    fn read(spec: Value) -> Result<Device, String> {
        let infra_id = "demo-x7k2p".parse().unwrap();
        let wanted =
            WantedMachine { name: "demo-x7k2p-worker-a", role: "worker", infra_id: &infra_id, provider_spec: &spec };
        let value = Provider.machine(&wanted).map_err(|error| error.to_string())?;
        Ok(Device::deserialize(value).unwrap())
    }

    fn spec() -> Value {
        json!({
            "kind": "PacketMachineProviderSpec", "userDataSecret": {"name": "u"}, "credentialsSecret": {"name": "c"},
            "machineTypes": ["c3.small.x86", "m3.small.x86"], "metros": ["da", "sv"], "os": "custom_ipxe",
            "ipxeScriptURL": "http://h/boot.ipxe", "spotPriceMax": 0.25, "tags": ["blue"],
        })
    }

    #[test]
    fn places_and_plans_are_tried_in_order_and_the_mark_is_on() {
        let device = read(spec()).unwrap();
        assert_eq!(device.candidates.len(), 4);
        assert_eq!((device.candidates[1].location.code(), device.candidates[1].plan.as_str()), ("da", "m3.small.x86"));
        assert_eq!(device.tags, ["landfall:demo-x7k2p", "landfall-name:worker-a", "blue"]);
        assert_eq!((device.price, device.public_ipv4), (Price::Spot(0.25), true));
    }

    #[test]
    fn what_can_never_be_made_is_refused() {
        for (field, reason) in [("metros", "names no place"), ("machineTypes", "is not understood")] {
            let mut spec = spec();
            spec.as_object_mut().unwrap().remove(field);
            let error = read(spec).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_secret_that_lacks_something_says_what() {
        let error = Provider.connect(&ProviderCredentials::new(), &"demo-x7k2p".parse().unwrap(), Duration::ZERO);
        assert_eq!(error.err().unwrap().to_string(), "the Secret with the credentials of Packet lacks 'api_key'");
    }
}
