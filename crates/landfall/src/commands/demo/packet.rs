//! What a demonstration on Packet begins with: two elastic addresses, credentials, and an install-config that fits.

use std::path::Path;

use anyhow::Context as _;
use landfall_simulator::{core::Running, packet::Metal};
use landfall_wire::{Client, Limits, Method, Request, Trust};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::commands::sim::write_private;

/// Installs on a simulated account once project and addresses are those of the account.
const EXAMPLE: &str = include_str!("../../../../../examples/packet/install-config.yaml");

/// Asks with nothing but the key, as anybody could.
pub(super) struct Asker {
    http: Client,
    base: String,
    key: SecretString,
    project: String,
}

impl Asker {
    pub(super) fn new(account: &Running<Metal>) -> anyhow::Result<Self> {
        let ready = account.ready();
        let field = |name: &str| ready[name].as_str().unwrap_or_default().to_owned();
        let trust = account.ca_pem().map_or(Trust::System, |pem| Trust::Only(pem.to_owned()));
        let http = Client::new(&trust, Limits::default())?;
        Ok(Self { http, base: field("url"), key: field("api_key").into(), project: field("project") })
    }

    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.send(Request::get(self.url(path)?)).await.with_context(|| format!("cannot ask the account for its {path}"))
    }

    /// Reserves an elastic address, as a user does who has some already.
    async fn reserve(&self) -> anyhow::Result<String> {
        let body = json!({"type": "public_ipv4", "quantity": 1, "metro": "da"});
        let made = self.send(Request::json(Method::POST, self.url("ips")?, &body)).await?;
        made["address"].as_str().map(str::to_owned).context("the account gave no address")
    }

    async fn send(&self, request: Request) -> anyhow::Result<Value> {
        let request = request.accept_json().secret_header("x-auth-token", &self.key);
        Ok(self.http.send(request).await?.successful()?.json()?)
    }

    fn url(&self, path: &str) -> anyhow::Result<url::Url> {
        Ok(format!("{}/projects/{}/{path}", self.base, self.project).parse()?)
    }
}

/// Writes the example for an account. Returns the address of the API.
#[expect(clippy::disallowed_methods, reason = "an example, which ends with the demonstration")]
pub(super) async fn prepare(account: &Running<Metal>, example: &Path) -> anyhow::Result<std::net::IpAddr> {
    let asker = Asker::new(account)?;
    let (api, ingress) = (asker.reserve().await?, asker.reserve().await?);
    let mut config: Value = serde_saphyr::from_str(EXAMPLE)?;
    let section = &mut config["platform"]["packet"];
    section["project"] = json!(asker.project);
    (section["apiAddress"], section["ingressAddress"]) = (json!(api), json!(ingress));
    std::fs::write(example, serde_saphyr::to_string(&config)?).context("cannot write the example")?;
    Ok(api.parse()?)
}

/// Writes what a client needs into the file that `PACKET_CONFIG` names.
pub(crate) fn write_credentials(account: &Running<Metal>, path: &Path) -> anyhow::Result<()> {
    let ready = account.ready();
    let document = json!({"api_url": ready["url"], "api_key": ready["api_key"], "ca_bundle": account.ca_pem()});
    write_private(path, &serde_saphyr::to_string(&document).context("cannot write the credentials")?)
}
