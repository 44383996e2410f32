//! The HTTP proxy of the machines.

use landfall_config::Proxy;

use super::NodeFile;
use crate::Cluster;

/// What is always reached directly: the cluster itself.
pub(crate) fn no_proxy(cluster: &Cluster<'_>, proxy: &Proxy) -> Vec<String> {
    let networking = &cluster.config.networking;
    let mut direct: Vec<String> =
        ["localhost", "127.0.0.1", "::1", ".svc", ".cluster.local"].map(str::to_owned).to_vec();
    direct.push(cluster.api_int_name());
    direct.extend(networking.machine_network.iter().map(|network| network.cidr.to_string()));
    direct.extend(networking.cluster_network.iter().map(|network| network.cidr.to_string()));
    direct.extend(networking.service_network.iter().map(ToString::to_string));
    let given = proxy.no_proxy.as_deref().unwrap_or_default();
    for entry in given.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        if !direct.iter().any(|known| known == entry) {
            direct.push(entry.to_owned());
        }
    }
    direct
}

/// The proxy for all services: systemd hands its default environment to every one that it starts, kubeadm passes it on to
/// the control plane.
pub(super) fn files(cluster: &Cluster<'_>) -> Vec<NodeFile> {
    let Some(proxy) = &cluster.config.proxy else { return Vec::new() };
    let no_proxy = no_proxy(cluster, proxy).join(",");
    let variables = [
        ("HTTP_PROXY", proxy.http_proxy.as_deref()),
        ("HTTPS_PROXY", proxy.https_proxy.as_deref()),
        ("NO_PROXY", Some(no_proxy.as_str())),
    ];
    // Programs differ in which spelling they read.
    let settings: Vec<String> = variables
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .flat_map(|(name, value)| [format!("{name}={value}"), format!("{}={value}", name.to_lowercase())])
        .map(|setting| format!("DefaultEnvironment={}\n", quoted(&setting)))
        .collect();
    let contents = format!("[Manager]\n{}", settings.concat());
    // Proxy URLs may hold a password.
    vec![NodeFile::private("/etc/systemd/system.conf.d/10-landfall-proxy.conf", contents)]
}

/// As one word in a systemd setting: percent signs begin a specifier there.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%"))
}
