//! How far the bootstrap machine is, as it says itself: by its config server from the first minute on, by the cluster's API once
//! there is one.

use std::{fmt, time::Duration};

use landfall_platform::ErrorClass;
use landfall_wire::{Client, Limits, Request, Trust};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::Error;

/// Somebody who looks does not want to wait for a machine that is not there.
const LIMITS: Limits = Limits { connect: Duration::from_secs(2), exchange: Duration::from_secs(5), answer: 1 << 20 };

/// How far the bootstrap machine is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bootstrap {
    /// `progressing`, `failing` or `complete`.
    pub status: String,
    /// Steps that are done, and of how many, as `3/10`; empty if it does not say.
    pub steps: String,
    /// The step that it is at.
    pub step: String,
    /// What it last said about it.
    pub message: String,
    /// Its public SSH host keys, a type and a key each; none if it has not told them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ssh_host_keys: Vec<String>,
}

/// The `ConfigMap`.
#[derive(Deserialize)]
pub(crate) struct ConfigMap {
    #[serde(default)]
    data: Data,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Data {
    status: String,
    steps: String,
    step: String,
    message: String,
}

impl From<ConfigMap> for Bootstrap {
    fn from(ConfigMap { data: Data { status, steps, step, message } }: ConfigMap) -> Self {
        Self { status, steps, step, message, ssh_host_keys: Vec::new() }
    }
}

/// What the config server says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    status: String,
    steps: Vec<Step>,
    #[serde(default)]
    ssh_host_keys: Vec<String>,
}

#[derive(Deserialize)]
struct Step {
    title: String,
    state: String,
    #[serde(default)]
    message: String,
}

impl From<Report> for Bootstrap {
    fn from(Report { status, steps, ssh_host_keys }: Report) -> Self {
        let is_done = |step: &&Step| step.state == "done";
        let current = steps.iter().find(|step| !is_done(step));
        Self {
            status,
            steps: format!("{}/{}", steps.iter().filter(is_done).count(), steps.len()),
            step: current.map(|step| step.title.clone()).unwrap_or_default(),
            message: current.map(|step| step.message.clone()).unwrap_or_default(),
            ssh_host_keys,
        }
    }
}

impl fmt::Display for Bootstrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.status)?;
        for (before, text, after) in
            [(", ", &self.steps, " steps done"), (", at: ", &self.step, ""), (" (", &self.message, ")")]
        {
            if !text.is_empty() {
                write!(f, "{before}{text}{after}")?;
            }
        }
        Ok(())
    }
}

/// The config server of a cluster, to the installer, which has a credential of its own.
pub struct ConfigServer {
    client: Client,
    progress: Url,
    credential: SecretString,
}

impl ConfigServer {
    /// The one at `address`, a host and a port, whose certificate the authority must have signed.
    pub fn new(address: &str, authority: &str, credential: SecretString) -> Result<Self, Error> {
        let failed =
            |source| Error::Request { attempt: "preparing to call the config server", source: Box::new(source) };
        let client = Client::new(&Trust::Only(authority.to_owned()), LIMITS).map_err(failed)?;
        let progress = Url::parse(&format!("https://{address}/progress")).expect("a host and a port make a URL");
        Ok(Self { client, progress, credential })
    }

    /// How far the bootstrap machine is; none if nobody there knows.
    pub async fn bootstrap(&self) -> Result<Option<Bootstrap>, Error> {
        let failed = |source| Error::Request { attempt: "asking the bootstrap machine", source: Box::new(source) };
        let request = Request::get(self.progress.clone()).bearer(&self.credential);
        match self.client.send(request).await.map_err(failed)?.successful() {
            Ok(reply) => reply.json::<Report>().map(|report| Some(report.into())).map_err(failed),
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_say_the_same() {
        let report: Report = serde_json::from_value(json!({ "status": "progressing", "steps": [
            { "id": "vip", "title": "address", "state": "done" },
            { "id": "masters", "title": "masters in the cluster", "state": "running", "message": "1 of 3" },
            { "id": "reset", "title": "end", "state": "waiting" },
        ] }))
        .unwrap();
        let map: ConfigMap = serde_json::from_value(json!({ "data": {
            "status": "progressing", "steps": "1/3", "step": "masters in the cluster", "message": "1 of 3", "updated": "now",
        } }))
        .unwrap();
        let said = Bootstrap::from(report);
        assert_eq!(said, Bootstrap::from(map));
        assert_eq!(said.to_string(), "progressing, 1/3 steps done, at: masters in the cluster (1 of 3)");
        let bare: ConfigMap = serde_json::from_value(json!({ "data": { "status": "complete" } })).unwrap();
        assert_eq!(Bootstrap::from(bare).to_string(), "complete");
    }
}
