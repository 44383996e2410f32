//! How a guest talks to others: from its own address, and to loopback addresses only.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::http::request::Builder;
use hyper_util::rt::TokioIo;
use ipnet::Ipv6Net;
use landfall_node::dns::{Family, lookup};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

/// Connections of all guests of a simulator at once. Both ends are in this process, and a process has 1024 file descriptors
/// unless somebody raised that.
const CONNECTIONS: usize = 128;
/// What one exchange may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The largest answer that is read.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// The wires that all guests of a simulator share.
#[derive(Clone, Debug)]
pub(super) struct Wires {
    places: Arc<Semaphore>,
    /// Besides loopback addresses.
    network_v6: Option<Ipv6Net>,
}

/// A guest's connection to the network.
#[derive(Clone, Debug)]
pub(super) struct Link {
    wires: Wires,
    /// Of each family at most one is used.
    addresses: Arc<[IpAddr]>,
    hosts: Arc<[(String, IpAddr)]>,
    /// The name server of the site.
    resolver: Option<SocketAddr>,
}

/// Why there was no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum NetworkError {
    #[error("the name {0} is not known here")]
    Name(String),
    #[error("{0} is outside: guests reach loopback addresses and their own networks only")]
    Outside(IpAddr),
    #[error("cannot connect to {0}")]
    Connect(SocketAddr, #[source] io::Error),
    #[error("TLS with {0} failed")]
    Tls(SocketAddr, #[source] io::Error),
    #[error("the exchange with {0} broke off")]
    Exchange(SocketAddr, #[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("{0} took longer than {PATIENCE:?}")]
    Time(Url),
    #[error("{0} is not a URL that can be asked")]
    Url(Url),
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) server: SocketAddr,
    pub(super) status: u16,
    pub(super) body: Bytes,
}

impl Default for Wires {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Wires {
    /// Wires that lead to loopback addresses, and to those of a network of the host's own.
    pub(super) fn new(network_v6: Option<Ipv6Net>) -> Self {
        Self { places: Arc::new(Semaphore::new(CONNECTIONS)), network_v6 }
    }

    /// Whether an address can be one of a guest, or of somebody that a guest talks to.
    pub(super) fn reach(&self, address: &IpAddr) -> bool {
        match (address, self.network_v6) {
            (IpAddr::V6(address), Some(network)) if network.contains(address) => true,
            _ => address.is_loopback(),
        }
    }
}

impl Link {
    /// A guest with these addresses that knows no names.
    pub(super) fn new(wires: Wires, addresses: &[IpAddr]) -> Self {
        Self { wires, addresses: addresses.into(), hosts: Arc::from([]), resolver: None }
    }

    /// The same guest at a site with a name server.
    pub(super) fn with_resolver(self, resolver: Option<SocketAddr>) -> Self {
        Self { resolver, ..self }
    }

    /// The same guest once it has a hosts file.
    pub(super) fn with_hosts(&self, hosts: &str) -> Self {
        let lines = hosts.lines().map(|line| line.split('#').next().unwrap_or_default());
        let entries = lines.flat_map(|line| {
            let mut words = line.split_whitespace();
            let address = words.next().and_then(|word| word.parse().ok());
            words.filter_map(move |name| Some((name.to_owned(), address?)))
        });
        Self { hosts: entries.collect(), ..self.clone() }
    }

    /// Sends a request and reads the answer. Without `tls` the URL must be plain HTTP.
    pub(super) async fn exchange(
        &self,
        url: &Url,
        tls: Option<Arc<ClientConfig>>,
        request: Builder,
        body: Vec<u8>,
    ) -> Result<Reply, NetworkError> {
        let _place = self.wires.places.acquire().await.expect("the semaphore is never closed");
        let exchange = self.exchange_now(url, tls, request, body);
        tokio::time::timeout(PATIENCE, exchange).await.map_err(|_| NetworkError::Time(url.clone()))?
    }

    async fn exchange_now(
        &self,
        url: &Url,
        tls: Option<Arc<ClientConfig>>,
        request: Builder,
        body: Vec<u8>,
    ) -> Result<Reply, NetworkError> {
        let host = url.host().ok_or_else(|| NetworkError::Url(url.clone()))?;
        let port = url.port_or_known_default().ok_or_else(|| NetworkError::Url(url.clone()))?;
        let (server, stream) = self.reach(&self.resolve(&host).await?, port).await?;
        let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let request = request.uri(target).header("host", authority).body(Full::new(Bytes::from(body)));
        let request = request.map_err(|_| NetworkError::Url(url.clone()))?;
        match (url.scheme(), tls) {
            ("http", None) => send(stream, server, request).await,
            ("https", Some(tls)) => {
                let name = match host {
                    Host::Domain(name) => {
                        ServerName::try_from(name.to_owned()).map_err(|_| NetworkError::Url(url.clone()))?
                    }
                    Host::Ipv4(address) => IpAddr::V4(address).into(),
                    Host::Ipv6(address) => IpAddr::V6(address).into(),
                };
                let stream = TlsConnector::from(tls).connect(name, stream).await;
                send(stream.map_err(|error| NetworkError::Tls(server, error))?, server, request).await
            }
            _ => Err(NetworkError::Url(url.clone())),
        }
    }

    /// Connects to the first of the addresses that answers.
    async fn reach(&self, addresses: &[IpAddr], port: u16) -> Result<(SocketAddr, TcpStream), NetworkError> {
        let mut last = None;
        for address in addresses {
            let server = SocketAddr::new(*address, port);
            if !self.wires.reach(address) {
                return Err(NetworkError::Outside(*address));
            }
            match self.connect(server).await {
                Ok(stream) => return Ok((server, stream)),
                Err(error) => last = Some(NetworkError::Connect(server, error)),
            }
        }
        Err(last.unwrap_or_else(|| NetworkError::Name("without any address".to_owned())))
    }

    /// The addresses of a host: from the hosts file, or else from the name server.
    async fn resolve(&self, host: &Host<&str>) -> Result<Vec<IpAddr>, NetworkError> {
        match host {
            Host::Ipv4(address) => Ok(vec![(*address).into()]),
            Host::Ipv6(address) => Ok(vec![(*address).into()]),
            Host::Domain("localhost") => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            Host::Domain(name) => {
                let entry = self.hosts.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                if let Some((_, address)) = entry {
                    return Ok(vec![*address]);
                }
                let mut found = Vec::new();
                if let Some(resolver) = self.resolver {
                    // In the order in which systems choose (RFC 6724), as far as the guest has an address to come from.
                    for (family, is_own) in [(Family::Six, self.has(IpAddr::is_ipv6)), (Family::Four, true)] {
                        if is_own {
                            found.extend(lookup(resolver, name, family).await);
                        }
                    }
                }
                if found.is_empty() { Err(NetworkError::Name((*name).to_owned())) } else { Ok(found) }
            }
        }
    }

    /// The addresses of a name or of an address that is written down.
    pub(super) async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, NetworkError> {
        match host.parse() {
            Ok(address) => Ok(vec![address]),
            Err(_) => self.resolve(&Host::Domain(host)).await,
        }
    }

    async fn connect(&self, server: SocketAddr) -> io::Result<TcpStream> {
        let socket = if server.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        if let Some(own) = self.addresses.iter().find(|own| own.is_ipv4() == server.is_ipv4()) {
            socket.bind(SocketAddr::new(*own, 0))?;
        }
        socket.connect(server).await
    }

    fn has(&self, is_such: impl Fn(&IpAddr) -> bool) -> bool {
        self.addresses.iter().any(is_such)
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    server: SocketAddr,
    request: Request<Full<Bytes>>,
) -> Result<Reply, NetworkError> {
    let broken = |error: Box<dyn std::error::Error + Send + Sync>| NetworkError::Exchange(server, error);
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| broken(error.into()))?;
    let exchange = async {
        let response = sender.send_request(request).await.map_err(|error| broken(error.into()))?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), ANSWER_LIMIT).collect().await.map_err(broken)?.to_bytes();
        Ok(Reply { server, status, body })
    };
    let mut connection = std::pin::pin!(connection);
    let mut exchange = std::pin::pin!(exchange);
    tokio::select! {
        reply = &mut exchange => reply,
        ended = &mut connection => match ended {
            // The server closed after its answer, which is read to its end here.
            Ok(()) => exchange.await,
            Err(error) => Err(broken(error.into())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn without_a_name_server_names_come_from_the_hosts_file_only() {
        let link = Link::new(Wires::default(), &[Ipv4Addr::LOCALHOST.into()]);
        let told =
            link.with_hosts("127.0.0.1 localhost\n# x\n127.66.0.5 api-int.demo.example.com api # y\nnonsense z\n");
        let name = Host::Domain("API-int.demo.example.com");
        assert_eq!(told.resolve(&name).await.unwrap(), [IpAddr::from([127, 66, 0, 5])]);
        assert!(matches!(link.resolve(&name).await, Err(NetworkError::Name(_))));
        assert!(matches!(told.resolve(&Host::Domain("z")).await, Err(NetworkError::Name(_))));
    }

    #[test]
    fn only_the_networks_of_the_guests_are_reached() {
        let (alone, dual) = (Wires::default(), Wires::new(Some("fd66::/64".parse().unwrap())));
        for (address, by_one, by_both) in
            [("127.66.0.5", true, true), ("::1", true, true), ("fd66::5", false, true), ("fd67::5", false, false)]
        {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!((alone.reach(&address), dual.reach(&address)), (by_one, by_both), "{address}");
        }
    }
}
