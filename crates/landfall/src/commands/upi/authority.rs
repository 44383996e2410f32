//! Who signs for the servers of the cluster, as the install directory knows it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use data_url::DataUrl;
use landfall_upi::Port;
use landfall_wire::Trust;
use landfall_workdir::WorkDir;
use serde_json::Value;

use crate::cluster::KUBECONFIG;

/// The config of masters, which pins the CA of the config server.
const POINTER: &str = "master.ign";
/// The number of the port of the API.
const API: u16 = 6443;

/// The name that a server proves to have, and whose word counts.
#[derive(Debug)]
pub(super) struct Authority {
    pub(super) name: String,
    pub(super) trust: Trust,
}

impl Authority {
    /// That of a port with certificates; nothing if the install directory does not say.
    pub(super) fn of(port: &Port, dir: &WorkDir, domain: &str) -> Option<Self> {
        port.health?;
        let read = |path: &str| Some(String::from_utf8_lossy(&dir.read(path).ok()??.contents).into_owned());
        let (label, pem) = if port.number == API {
            ("api", of_kubeconfig(&read(KUBECONFIG)?)?)
        } else {
            ("api-int", of_pointer(&read(POINTER)?)?)
        };
        Some(Self { name: format!("{label}.{domain}"), trust: Trust::Only(pem) })
    }
}

fn of_kubeconfig(text: &str) -> Option<String> {
    let config: Value = serde_saphyr::from_str(text).ok()?;
    let encoded = config["clusters"][0]["cluster"]["certificate-authority-data"].as_str()?;
    String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok()
}

fn of_pointer(text: &str) -> Option<String> {
    let config: Value = serde_json::from_str(text).ok()?;
    let authorities = config["ignition"]["security"]["tls"]["certificateAuthorities"].as_array()?;
    let pems = authorities.iter().filter_map(|authority| {
        let (bytes, _) = DataUrl::process(authority["source"].as_str()?).ok()?.decode_to_vec().ok()?;
        String::from_utf8(bytes).ok()
    });
    let pem: String = pems.collect::<Vec<_>>().join("\n");
    (!pem.is_empty()).then_some(pem)
}
