//! What surrounds the cluster, as it is seen from here.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use async_trait::async_trait;
use tokio::{net::TcpStream, time::timeout};

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
