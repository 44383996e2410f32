//! The server on the network: UDP and TCP.

use std::{io, net::Ipv4Addr, sync::Arc, time::Duration};

use hickory_proto::op::{Message, ResponseCode};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UdpSocket},
    sync::{Semaphore, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    Forwarder, Zone, mdns,
    respond::{Response, asked_name, failure, found_elsewhere, respond},
};

/// Queries that are forwarded at once. More are refused, so that a site without name servers does not eat the memory.
const FORWARDED: usize = 1024;
/// TCP connections at once, and how long one may be silent.
const CONNECTIONS: usize = 256;
const SILENCE: Duration = Duration::from_secs(10);

/// Whether other machines of the segment are asked for their names by multicast, and from which address.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neighbours(pub Option<Ipv4Addr>);

#[derive(Clone)]
struct Server {
    zone: watch::Receiver<Arc<Zone>>,
    forwarder: Arc<Forwarder>,
    neighbours: Neighbours,
    places: Arc<Semaphore>,
}

/// Serves until `stop`.
pub async fn serve(
    udp: UdpSocket,
    tcp: TcpListener,
    zone: watch::Receiver<Arc<Zone>>,
    forwarder: Arc<Forwarder>,
    neighbours: Neighbours,
    stop: CancellationToken,
) {
    let server = Server { zone, forwarder, neighbours, places: Arc::new(Semaphore::new(FORWARDED)) };
    tokio::select! {
        () = stop.cancelled() => {}
        () = server.datagrams(Arc::new(udp)) => {}
        () = server.connections(tcp) => {}
    }
}

impl Server {
    async fn datagrams(&self, socket: Arc<UdpSocket>) {
        let mut buffer = vec![0; 4096];
        loop {
            let Ok((length, peer)) = socket.recv_from(&mut buffer).await else {
                // Errors of earlier answers come back here, for example that a client is gone.
                continue;
            };
            let Ok(query) = Message::from_vec(&buffer[..length]) else { continue };
            if let Some(answer) = self.here(&query) {
                // A client that cannot be reached asks again, or does not.
                let _ = socket.send_to(&fitting(&query, &answer), peer).await;
                continue;
            }
            let (server, socket, raw) = (self.clone(), Arc::clone(&socket), buffer[..length].to_vec());
            let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else { continue };
            tokio::spawn(async move {
                let _place = place;
                let answer = server.elsewhere(&raw, &query, false).await;
                let _ = socket.send_to(&answer, peer).await;
            });
        }
    }

    async fn connections(&self, listener: TcpListener) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        // waits: a server, which ends with its task
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let server = self.clone();
                    tokio::spawn(async move {
                        let _place = place;
                        // Clients hang up as they please.
                        let _ = server.connection(stream).await;
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    async fn connection(&self, mut stream: TcpStream) -> io::Result<()> {
        loop {
            let length = timeout(SILENCE, stream.read_u16()).await??;
            let mut raw = vec![0; usize::from(length)];
            timeout(SILENCE, stream.read_exact(&mut raw)).await??;
            let query = Message::from_vec(&raw).map_err(io::Error::other)?;
            let answer = match self.here(&query) {
                Some(answer) => answer.to_vec().map_err(io::Error::other)?,
                None => self.elsewhere(&raw, &query, true).await,
            };
            let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
            stream.write_all(&[&length.to_be_bytes(), answer.as_slice()].concat()).await?;
        }
    }

    fn here(&self, query: &Message) -> Option<Message> {
        match respond(&self.zone.borrow(), query) {
            Response::Here(answer) => Some(answer),
            Response::Forward => None,
        }
    }

    async fn elsewhere(&self, raw: &[u8], query: &Message, stream: bool) -> Vec<u8> {
        if let Some(answer) = self.neighbour(query).await {
            return answer;
        }
        match self.forwarder.ask(raw, stream).await {
            Some(answer) => answer,
            None => failure(query, ResponseCode::ServFail).to_vec().unwrap_or_default(),
        }
    }
}

impl Server {
    /// The answer of a machine on the segment that the cluster does not know yet.
    async fn neighbour(&self, query: &Message) -> Option<Vec<u8>> {
        let own = self.neighbours.0?;
        let name = asked_name(query)?;
        let machine = self.zone.borrow().machine_in(&name).map(str::to_owned)?;
        let address = mdns::find(&machine, own).await?;
        found_elsewhere(query, vec![address])?.to_vec().ok()
    }
}

/// The answer in as many bytes as the client takes by UDP; if it does not fit, the client is told to come by TCP.
fn fitting(query: &Message, answer: &Message) -> Vec<u8> {
    let whole = answer.to_vec().unwrap_or_default();
    if whole.len() <= usize::from(query.max_payload()) { whole } else { answer.truncate().to_vec().unwrap_or_default() }
}
