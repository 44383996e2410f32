//! Clients of the cluster's API.

use std::{net::IpAddr, time::Duration};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::Error;

/// How to reach the cluster's API.
#[derive(Clone, Debug)]
pub enum Access {
    /// As a pod of the cluster, with its service account.
    InCluster,
    /// With a kubeconfig. If an address is given, the name in it is not looked up: before the cluster's DNS records exist, its virtual
    /// address is all there is.
    Kubeconfig(String, Option<IpAddr>),
}

/// A client of the cluster's API.
pub async fn connect(access: Access) -> Result<Client, Error> {
    let mut config = match access {
        Access::InCluster => Config::incluster().map_err(|error| Error::Access(error.to_string()))?,
        Access::Kubeconfig(text, address) => {
            let unreadable = |error: kube::config::KubeconfigError| Error::Access(error.to_string());
            let kubeconfig = Kubeconfig::from_yaml(&text).map_err(unreadable)?;
            let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
            let mut config = config.map_err(unreadable)?;
            if let Some(address) = address {
                let host = config.cluster_url.host().unwrap_or_default().to_owned();
                let port = config.cluster_url.port_u16().unwrap_or(6443);
                let url = format!("https://{}", std::net::SocketAddr::new(address, port)).parse();
                config.cluster_url = url.map_err(|_| Error::Access(format!("{address} is no address to call")))?;
                config.tls_server_name = config.tls_server_name.or(Some(host));
            }
            config
        }
    };
    // An eviction that a disruption budget refuses is answered like a call of too many; whether and when to try again is decided here.
    config.default_retry = false;
    config.connect_timeout = Some(Duration::from_secs(10));
    Client::try_from(config).map_err(Error::api("preparing to call the cluster"))
}
