//! The API server that a kubelet runs as a static pod.

use super::kubeadm::ApiServerManifest;
use super::{Host, listen};
use crate::guests::console::chain;
use crate::guests::kube::ApiServer;
use crate::guests::pki::Authority;

/// Serves the API on all addresses of the machine until it retires.
pub(super) async fn run(host: Host, manifest: ApiServerManifest) {
    let server = host.persist("kube-apiserver", async || prepare(&host, &manifest)).await;
    host.note(|progress| progress.serving = true);
    let serve = move |listener, stop| server.clone().serve(listener, stop);
    listen::everywhere(&host, "kube-apiserver", manifest.port, serve).await;
}

fn prepare(host: &Host, manifest: &ApiServerManifest) -> Result<ApiServer, String> {
    let store = host.system.etcd().ok_or("there is no etcd on this machine")?;
    let authority = authority(host, &manifest.pki)?;
    let prepared = || -> Result<ApiServer, Box<dyn std::error::Error>> {
        let identity = authority.issue_server(manifest.names.clone())?;
        Ok(ApiServer::new(store, authority.certificate()?, identity.certificate, identity.key)?)
    };
    prepared().map_err(|error| chain(&*error))
}

/// The cluster's authority in a directory.
pub(super) fn authority(host: &Host, directory: &str) -> Result<Authority, String> {
    let text = |name: &str| host.system.text(&format!("{directory}/{name}"));
    Authority::load(&text("ca.crt")?, &text("ca.key")?).map_err(|error| format!("{directory}: {}", chain(&error)))
}
