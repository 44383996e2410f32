//! What surrounds a cluster, as it is seen from here: whether its virtual addresses are unused, and whether names lead to them.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use async_trait::async_trait;
use futures::future::join_all;
use landfall_config::InstallConfig;
use landfall_platform::Finding;
use tokio::{net::TcpStream, time::timeout};

/// Ports that something answers on if the address belongs to a cluster already.
const PORTS: [u16; 4] = [6443, 22623, 443, 80];

/// Who wants to know whether an address is in use waits that long: hosts of the same site answer in milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// What surrounds the cluster. Tests have their own.
#[async_trait]
pub trait Surroundings: Send + Sync {
    /// Whether anything accepts connections there.
    async fn answers(&self, address: SocketAddr) -> bool;

    /// The addresses of a name.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The network and the resolver of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalNetwork;

#[async_trait]
impl Surroundings for LocalNetwork {
    async fn answers(&self, address: SocketAddr) -> bool {
        matches!(timeout(PATIENCE, TcpStream::connect(address)).await, Ok(Ok(_)))
    }

    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Whether nobody else has the cluster's virtual addresses. `exists` is whether the cluster has machines already, `holder` is the
/// machine of somebody else that has an address, as the platform knows it.
pub async fn addresses_are_unused(
    config: &InstallConfig,
    surroundings: &dyn Surroundings,
    exists: bool,
    holder: impl Fn(IpAddr) -> Option<String>,
) -> Vec<Finding> {
    const CHECK: &str = "virtual addresses";
    let vips = config.api_vips().iter().chain(config.ingress_vips());
    let answers = join_all(vips.map(|vip| async {
        let probes = PORTS.map(|port| surroundings.answers(SocketAddr::new(*vip, port)));
        (*vip, join_all(probes).await.into_iter().zip(PORTS).find(|(answers, _)| *answers).map(|(_, port)| port))
    }))
    .await;
    let judge = |(vip, port): (IpAddr, Option<u16>)| {
        let hint = "choose an unused address, or release this one";
        match (holder(vip), port) {
            (Some(machine), _) => Finding::problem(CHECK, format!("{vip} is an address of machine {machine}"), hint),
            (None, Some(port)) if !exists => {
                Finding::problem(CHECK, format!("something answers at {vip} on port {port}"), hint)
            }
            (None, Some(_)) => Finding::ok(CHECK, format!("{vip} is held by the cluster itself")),
            (None, None) => Finding::ok(CHECK, format!("{vip} is unused")),
        }
    };
    answers.into_iter().map(judge).collect()
}

/// Whether the records that the user makes lead to the cluster's addresses.
pub async fn names_lead_there(config: &InstallConfig, surroundings: &dyn Surroundings) -> Vec<Finding> {
    let domain = config.cluster_domain();
    let (api, ingress) = (config.api_vips(), config.ingress_vips());
    let records =
        [(format!("api.{domain}"), api), (format!("api-int.{domain}"), api), (format!("test.apps.{domain}"), ingress)];
    join_all(records.map(async |(name, expected)| record(surroundings, &name, expected).await)).await
}

async fn record(surroundings: &dyn Surroundings, name: &str, expected: &[IpAddr]) -> Finding {
    const CHECK: &str = "DNS";
    let list = |addresses: &[IpAddr]| addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let shown = name.replacen("test.apps.", "*.apps.", 1);
    let wanted = if expected.is_empty() { "your load balancer".to_owned() } else { list(expected) };
    let hint = format!("make a record for {shown} that points to {wanted}, or set 'dns'");
    match surroundings.resolve(name).await {
        Err(_) => Finding::notice(CHECK, format!("{shown} is not known here"), hint),
        Ok(found) if expected.is_empty() || found.iter().any(|address| expected.contains(address)) => {
            Finding::ok(CHECK, format!("{shown} is {}", list(&found)))
        }
        Ok(found) => Finding::notice(CHECK, format!("{shown} is {}", list(&found)), hint),
    }
}
