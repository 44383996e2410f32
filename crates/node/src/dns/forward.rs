//! Asking the site's name servers.

use std::{io, net::SocketAddr, sync::RwLock, time::Duration};

use hickory_proto::op::Message;
use rand::Rng as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
    time::timeout,
};

/// What one server gets to answer in before the next is asked. Resolvers of hosts wait for five seconds in all.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Asks the site's name servers, in their order.
#[derive(Debug, Default)]
pub struct Forwarder {
    servers: RwLock<Vec<SocketAddr>>,
}

impl Forwarder {
    /// With these servers.
    pub fn new(servers: Vec<SocketAddr>) -> Self {
        Self { servers: RwLock::new(servers) }
    }

    /// From now on with these servers.
    pub fn set(&self, servers: Vec<SocketAddr>) {
        let mut present = self.servers.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *present != servers {
            tracing::info!(?servers, "everything else is asked there");
            *present = servers;
        }
    }

    /// The answer of the first server that gives one, to a query as it came. `stream` asks by TCP.
    pub async fn ask(&self, query: &[u8], stream: bool) -> Option<Vec<u8>> {
        let servers = self.servers.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let id = query.get(..2)?.to_vec();
        for server in servers {
            // An id of our own, and a port of the kernel's choice: whoever wants to answer instead must guess both.
            let mut asked = query.to_vec();
            asked[..2].copy_from_slice(&rand::rng().random::<[u8; 2]>());
            let exchange = async { if stream { by_tcp(server, &asked).await } else { by_udp(server, &asked).await } };
            match timeout(PATIENCE, exchange).await {
                Ok(Ok(mut answer)) => {
                    answer[..2].copy_from_slice(&id);
                    return Some(answer);
                }
                Ok(Err(error)) => tracing::debug!(%server, %error, "no answer"),
                Err(_) => tracing::debug!(%server, "no answer in time"),
            }
        }
        None
    }
}

async fn by_udp(server: SocketAddr, query: &[u8]) -> io::Result<Vec<u8>> {
    let any: SocketAddr = if server.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0; 8], 0).into() };
    let socket = UdpSocket::bind(any).await?;
    // Connected: the kernel drops what comes from elsewhere, and tells at once that nobody listens there.
    socket.connect(server).await?;
    socket.send(query).await?;
    let mut answer = vec![0; 65_535];
    loop {
        let length = socket.recv(&mut answer).await?;
        if answers(&answer[..length], query) {
            answer.truncate(length);
            return Ok(answer);
        }
    }
}

async fn by_tcp(server: SocketAddr, query: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(query.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), query].concat()).await?;
    let mut answer = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut answer).await?;
    if answers(&answer, query) { Ok(answer) } else { Err(io::Error::other("the answer is to another question")) }
}

/// Whether an answer is to this query.
fn answers(answer: &[u8], query: &[u8]) -> bool {
    let (Ok(answer), Ok(query)) = (Message::from_vec(answer), Message::from_vec(query)) else { return false };
    answer.metadata.id == query.metadata.id && (answer.queries.is_empty() || answer.queries == query.queries)
}
