//! Listening on all addresses of the machine.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::Context as _;
use landfall_node::listener;
use tokio::net::TcpListener;

/// On all addresses of both families, or of one if the machine has IPv6 turned off.
pub(super) async fn listen(port: u16) -> anyhow::Result<TcpListener> {
    listener::raise_open_files();
    match TcpListener::bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))
            .await
            .with_context(|| format!("cannot listen on port {port}")),
    }
}
