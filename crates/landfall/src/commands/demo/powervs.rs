//! What a demonstration on PowerVS begins with: credentials that lead to the simulated services, and an install-config that fits.

use std::{ffi::OsString, path::Path};

use anyhow::Context as _;
use landfall_config::powervs::{Service, ServiceEndpoints};
use landfall_simulator::{core::Running, powervs::Cloud};
use landfall_wire::{
    Client, Limits, Request, Trust,
    ibm_cloud::{Place, Session, endpoint},
};
use serde_json::{Value, json};
use url::Url;

use crate::commands::sim::write_private;

/// Installs on a simulated account as it is.
const EXAMPLE: &str = include_str!("../../../../../examples/powervs/install-config.yaml");

/// Asks with nothing but the API key, as anybody could.
pub(super) struct Asker {
    session: Session,
    endpoints: ServiceEndpoints,
}

impl Asker {
    pub(super) fn new(account: &Running<Cloud>) -> anyhow::Result<Self> {
        let trust = account.ca_pem().map_or(Trust::System, |pem| Trust::Only(pem.to_owned()));
        let http = Client::new(&trust, Limits::default())?;
        let endpoints = endpoints(account)?;
        let key = account.ready()["api_key"].as_str().unwrap_or_default().to_owned();
        let session = Session::new(http, endpoint(Service::Iam, &endpoints, &Place::default()), key.into());
        Ok(Self { session, endpoints })
    }

    pub(super) async fn get(&self, service: Service, path: &str) -> anyhow::Result<Value> {
        let base = endpoint(service, &self.endpoints, &Place::default());
        let url: Url = format!("{}{path}", base.as_str().trim_end_matches('/')).parse()?;
        let reply = self.session.send(|| Request::get(url.clone()).accept_json()).await;
        let reply = reply.with_context(|| format!("cannot ask the account for {path}"))?;
        Ok(reply.successful()?.json()?)
    }
}

/// Where the services are, as an install-config would name them.
fn endpoints(account: &Running<Cloud>) -> anyhow::Result<ServiceEndpoints> {
    let ready = account.ready();
    let list: Vec<Value> =
        Service::ALL.iter().map(|service| json!({"name": service, "url": ready["services"][service.name()]})).collect();
    serde_json::from_value(json!(list)).context("the account does not say where its services are")
}

/// Writes the example.
#[expect(clippy::disallowed_methods, reason = "an example, which ends with the demonstration")]
pub(super) fn prepare(example: &Path) -> anyhow::Result<()> {
    std::fs::write(example, EXAMPLE).context("cannot write the example")
}

/// Writes what a client needs into the file that `POWERVS_AUTH_FILEPATH` names: that of the reference installer, and where services are.
pub(crate) fn write_credentials(account: &Running<Cloud>, path: &Path) -> anyhow::Result<()> {
    let ready = account.ready();
    let document = json!({
        "id": "simulator",
        "apikey": ready["api_key"],
        "region": ready["region"],
        "zone": ready["zone"],
        "resourcegroup": ready["resource_group"],
        "ca_bundle": account.ca_pem(),
        "serviceEndpoints": endpoints(account)?,
    });
    write_private(path, &document.to_string())
}

/// What commands need to know of the network: names are served by the account.
pub(super) fn environment(account: &Running<Cloud>) -> Vec<(&'static str, OsString)> {
    let server = account.ready()["name_server"].as_str().unwrap_or_default().to_owned();
    let port = server.rsplit_once(':').map(|(_, port)| port.to_owned()).unwrap_or_default();
    vec![("LANDFALL_DNS_RESOLVER", server.into()), ("LANDFALL_DNS_PORT", port.into())]
}
