//! BGP.

use landfall_wire::Method;
use serde::Deserialize;
use serde_json::json;

use super::Client;
use crate::Error;

/// The BGP settings of a project; without a status there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct BgpConfig {
    /// `enabled`, `requested`, …
    #[serde(default)]
    pub status: Option<String>,
}

impl Client {
    /// The settings of a project.
    pub async fn bgp_config(&self, project: &str) -> Result<BgpConfig, Error> {
        self.get("reading the BGP settings of the project", &format!("projects/{project}/bgp-config")).await
    }

    /// Asks for BGP inside of the platform.
    pub async fn enable_bgp(&self, project: &str) -> Result<(), Error> {
        let body = json!({"deployment_type": "local", "asn": 65000, "use_case": "addresses of a Kubernetes cluster"});
        self.send("enabling BGP", Method::POST, &format!("projects/{project}/bgp-configs"), &body).await
    }

    /// Starts the BGP session of a device. One that runs is as good.
    pub async fn start_bgp_session(&self, device: &str) -> Result<(), Error> {
        let body = json!({"address_family": "ipv4", "default_route": false});
        let path = format!("devices/{device}/bgp/sessions");
        match self.send(&format!("starting the BGP session of device {device}"), Method::POST, &path, &body).await {
            Err(Error::Fault { fault, .. }) if fault.errors.iter().any(|text| text.contains("already has session")) => {
                Ok(())
            }
            done => done,
        }
    }
}
