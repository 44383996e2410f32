//! `landfall-node join`: `kubeadm join` with the configuration on the disk.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::Host;
use super::client::Client;
use super::kubeadm::{API_SERVER_MANIFEST, ApiServerManifest, KUBELET_CONFIG, KubeletConfig};
use crate::guests::console::chain;
use crate::guests::facts::{ClusterConfiguration, Facts, JoinConfiguration, JoinControlPlane};
use crate::guests::pki::{self, Authority, CertificateKey};

/// Left when the machine has joined, so that a reboot does not begin again.
const DONE: &str = "/var/lib/landfall/join.done";

/// Tries until the machine has joined.
pub(super) async fn run(host: Host) {
    host.persist("landfall-node join", async || attempt(&host).await).await;
    host.until(|progress| progress.registered).await;
    host.system.write(DONE, "");
    host.console.print("landfall-node join: joined");
}

async fn attempt(host: &Host) -> Result<(), String> {
    let facts = host.facts()?;
    let join: JoinConfiguration = facts.kubeadm(&host.system, "JoinConfiguration")?;
    let discovery = &join.discovery.bootstrap_token;
    let ca = discover(host, &discovery.api_server_endpoint, &discovery.ca_cert_hashes).await?;
    let client = Client {
        link: host.link.clone(),
        endpoint: discovery.api_server_endpoint.clone(),
        tls: pki::client(&ca, None).map_err(|error| chain(&error))?,
        token: Some(discovery.token.clone()),
    };
    // Also where no setting of it is needed: it shows whether the token is good.
    let settings = cluster_configuration(&client).await?;
    if let Some(control_plane) = &join.control_plane {
        join_control_plane(host, &facts, &client, control_plane, &settings, &ca).await?;
    }
    let kubelet = KubeletConfig {
        node: join.node_registration.name.clone().unwrap_or_else(|| host.hostname.clone()),
        endpoint: discovery.api_server_endpoint.clone(),
        ca,
        token: Some(discovery.token.clone()),
        taints: join.node_registration.taints.clone().unwrap_or_default(),
    };
    host.system.write(KUBELET_CONFIG, serde_json::to_string(&kubelet).map_err(|error| error.to_string())?);
    host.note(|progress| progress.configured = true);
    Ok(())
}

/// The cluster's CA, which anybody may ask for, if its public key has one of the digests that the configuration pins.
async fn discover(host: &Host, endpoint: &str, pins: &[String]) -> Result<String, String> {
    let tls = pki::trusting_client().map_err(|error| chain(&error))?;
    let client = Client { link: host.link.clone(), endpoint: endpoint.to_owned(), tls, token: None };
    let path = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
    let info = client.get(path).await?.ok_or("the cluster says nothing about itself yet")?;
    let text = info.pointer("/data/kubeconfig").and_then(Value::as_str).unwrap_or_default();
    let kubeconfig: Value = serde_saphyr::from_str(text)
        .map_err(|error| format!("cannot read what the cluster says about itself: {error}"))?;
    let data = kubeconfig.pointer("/clusters/0/cluster/certificate-authority-data").and_then(Value::as_str);
    let ca = STANDARD.decode(data.unwrap_or_default()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let ca = ca.ok_or("the CA that the cluster names is not PEM")?;
    let pin = pki::pin(&ca).map_err(|error| chain(&error))?;
    if !pins.contains(&pin) {
        return Err(format!("the cluster at {endpoint} has a CA that is not pinned: {pin}"));
    }
    Ok(ca)
}

async fn cluster_configuration(client: &Client) -> Result<ClusterConfiguration, String> {
    let path = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";
    let map = client.get(path).await?.ok_or("the cluster has no kubeadm-config yet")?;
    let text = map.pointer("/data/ClusterConfiguration").and_then(Value::as_str).unwrap_or_default();
    serde_saphyr::from_str(text).map_err(|error| format!("cannot read kubeadm-config: {error}"))
}

/// Gets the authority with its key, becomes a member of etcd, and has the kubelet run an API server.
async fn join_control_plane(
    host: &Host,
    facts: &Facts,
    client: &Client,
    control_plane: &JoinControlPlane,
    settings: &ClusterConfiguration,
    ca: &str,
) -> Result<(), String> {
    let path = "/api/v1/namespaces/kube-system/secrets/kubeadm-certs";
    let secret = client.get(path).await?.ok_or("the cluster has no kubeadm-certs")?;
    let key = CertificateKey::parse(&control_plane.certificate_key).map_err(|error| chain(&error))?;
    let open = |name: &str| {
        let sealed = STANDARD.decode(secret["data"][name].as_str().unwrap_or_default()).unwrap_or_default();
        key.open(&sealed).map_err(|error| format!("{name} in kubeadm-certs: {}", chain(&error)))
    };
    let ca_key = open("ca.key")?;
    Authority::load(ca, &ca_key).map_err(|error| chain(&error))?;
    let pin = pki::pin(ca).map_err(|error| chain(&error))?;
    let store = host.clusters.find(&pin).ok_or("no member of etcd answers")?;

    let mut names = settings.api_server.cert_sans.clone();
    names.extend(pki::api_server_names(&host.hostname, host.address, &settings.control_plane_endpoint));
    let manifest = ApiServerManifest { port: facts.api.port, names, pki: settings.certificates_dir.clone() };
    let manifest = serde_json::to_string(&manifest).map_err(|error| error.to_string())?;
    host.system.write(&format!("{}/ca.crt", settings.certificates_dir), ca);
    host.system.write(&format!("{}/ca.key", settings.certificates_dir), ca_key);
    host.system.set_etcd(Some(store));
    host.system.write(API_SERVER_MANIFEST, manifest);
    Ok(())
}
