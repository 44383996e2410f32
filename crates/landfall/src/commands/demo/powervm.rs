//! What a demonstration on PowerVM begins with: credentials that lead to the simulated servers, and an install-config that fits.

use std::{collections::BTreeSet, path::Path};

use anyhow::Context as _;
use ipnet::Ipv4Net;
use landfall_simulator::{core::Running, powervm::NovaLink};
use landfall_wire::{Client, Limits, Request, Trust};
use serde_json::{Value, json};
use url::Url;

use crate::commands::sim::{moved_text, write_private};

/// Installs on the simulated servers, once their addresses are in it.
const EXAMPLE: &str = include_str!("../../../../../examples/powervm/install-config.yaml");
/// What the addresses of the example's servers begin and end with.
const EXAMPLE_ADDRESS: (&str, &str) = ("novalink-", ".example.com");

/// The servers, as the ready line names them: names and URLs.
fn servers(running: &Running<NovaLink>) -> Vec<(String, String)> {
    let ready = running.ready();
    let servers = ready["hosts"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    servers.iter().map(|server| (text(&server["name"]), text(&server["url"]))).collect()
}

/// Writes what a client needs into the file that `POWERVM_CONFIG` names.
pub(crate) fn write_credentials(running: &Running<NovaLink>, path: &Path) -> anyhow::Result<()> {
    let ready = running.ready();
    let hosts: serde_json::Map<String, Value> =
        servers(running).into_iter().map(|(name, url)| (name, json!({ "address": url }))).collect();
    let mut document = json!({ "user": ready["user"], "password": ready["password"], "hosts": hosts });
    if let Some(bundle) = running.ca_pem() {
        document["ca_bundle"] = json!(bundle);
    }
    write_private(path, &serde_saphyr::to_string(&document).context("cannot write the credentials")?)
}

/// Writes the example for the machines in a network on the simulated servers.
#[expect(clippy::disallowed_methods, reason = "an example, which the next start writes again")]
pub(crate) fn write_install_config(running: &Running<NovaLink>, network: Ipv4Net, path: &Path) -> anyhow::Result<()> {
    let mut text = moved_text(EXAMPLE, network);
    for (name, url) in servers(running) {
        let letter = name.rsplit_once('-').map_or(name.as_str(), |(_, letter)| letter);
        let (beginning, end) = EXAMPLE_ADDRESS;
        text = text.replace(&format!("{beginning}{letter}{end}"), &url);
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Asks with nothing but a password, as anybody could, and understands no more of the answers than the texts in them.
pub(super) struct Asker {
    http: Client,
    servers: Vec<(Url, String)>,
}

impl Asker {
    pub(super) async fn new(running: &Running<NovaLink>) -> anyhow::Result<Self> {
        let trust = running.ca_pem().map_or(Trust::System, |pem| Trust::Only(pem.to_owned()));
        let http = Client::new(&trust, Limits::default())?;
        let ready = running.ready();
        let text = |name: &str| ready[name].as_str().unwrap_or_default().to_owned();
        let logon = format!(
            "<LogonRequest xmlns=\"http://www.ibm.com/xmlns/systems/power/firmware/web/mc/2012_10/\" \
             schemaVersion=\"V1_0\"><UserID>{}</UserID><Password>{}</Password></LogonRequest>",
            text("user"),
            text("password")
        );
        let mut servers = Vec::new();
        for (_, url) in servers_of(running)? {
            let request = Request::put(url.join("rest/api/web/Logon")?, logon.clone().into())
                .header("content-type", "application/vnd.ibm.powervm.web+xml; type=LogonRequest");
            let reply = http.send(request).await.and_then(landfall_wire::Reply::successful);
            let reply = reply.context("cannot log on to a server")?;
            let answer = String::from_utf8_lossy(reply.contents()).into_owned();
            let token = between(&answer, "<X-API-Session", "</X-API-Session>").next().unwrap_or_default();
            let token = token.split_once('>').map_or("", |(_, token)| token).to_owned();
            servers.push((url, token));
        }
        Ok(Self { http, servers })
    }

    /// The texts of all elements of a name in a feed, on all servers.
    pub(super) async fn texts(&self, feed: &str, element: &str) -> anyhow::Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for (url, token) in &self.servers {
            found.extend(self.texts_of(url, token, feed, element).await?);
        }
        Ok(found)
    }

    /// The names of all media in the repositories of all VIOSes.
    pub(super) async fn media(&self) -> anyhow::Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for (url, token) in &self.servers {
            for vios in self.texts_of(url, token, "VirtualIOServer?group=None", "PartitionUUID").await? {
                let groups = format!("VirtualIOServer/{vios}/VolumeGroup?group=None");
                for name in ["MediaName", "DiskName"] {
                    found.extend(self.texts_of(url, token, &groups, name).await?);
                }
            }
        }
        Ok(found)
    }

    async fn texts_of(&self, url: &Url, token: &str, feed: &str, element: &str) -> anyhow::Result<Vec<String>> {
        let request = Request::get(url.join(&format!("rest/api/uom/{feed}"))?).header("x-api-session", token);
        let reply = self.http.send(request).await.and_then(landfall_wire::Reply::successful);
        let reply = reply.with_context(|| format!("cannot ask a server for its {feed}"))?;
        let answer = String::from_utf8_lossy(reply.contents()).into_owned();
        let (beginning, end) = (format!("<{element} "), format!("</{element}>"));
        let texts = between(&answer, &beginning, &end).filter_map(|text| text.split_once('>'));
        Ok(texts.map(|(_, text)| text.to_owned()).collect())
    }
}

fn servers_of(running: &Running<NovaLink>) -> anyhow::Result<Vec<(String, Url)>> {
    servers(running).into_iter().map(|(name, url)| Ok((name, format!("{url}/").parse()?))).collect()
}

/// Everything in a text that stands between two others.
fn between<'a>(text: &'a str, beginning: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(beginning).skip(1).filter_map(move |rest| rest.split(end).next())
}
