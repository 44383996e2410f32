//! A listener for HTTP/1.1, over TLS or in plain: connections at once, time limits, and a clean end.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{
    Request, Response,
    body::{Body, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, getrlimit, setrlimit};
use rustls_pki_types::CertificateDer;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// Connections at once, if the limit of open files allows. More than a thousand machines that boot together; the others wait in the
/// kernel's queue.
const CONNECTIONS: usize = 2048;
/// Files that are open for other things than connections: what is served, the log, connections to the API.
const OTHER_FILES: u64 = 256;
/// A client that takes longer for its handshake or its request is not a machine that boots.
const PATIENCE: Duration = Duration::from_secs(10);
/// What connections get to finish when the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// Who is at the other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// The certificates it showed, its own first; empty if it showed none.
    pub certificates: Vec<CertificateDer<'static>>,
}

/// Serves over TLS until `stop` is cancelled: requests in flight are answered, everything else ends. Dropping the future ends
/// all connections at once.
pub async fn serve<H, R, B>(listener: TcpListener, acceptor: TlsAcceptor, stop: CancellationToken, handler: H)
where
    H: Fn(Request<Incoming>, Arc<Peer>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    let greet = move |stream| {
        let greeting = acceptor.accept(stream);
        async move {
            let stream = greeting.await.ok()?;
            let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
            let certificates = shown.iter().map(|certificate| certificate.clone().into_owned()).collect();
            Some((stream, certificates))
        }
    };
    accept(listener, greet, stop, handler).await;
}

/// Serves in plain, otherwise the same.
pub async fn serve_plain<H, R, B>(listener: TcpListener, stop: CancellationToken, handler: H)
where
    H: Fn(Request<Incoming>, Arc<Peer>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    accept(listener, |stream| std::future::ready(Some((stream, Vec::new()))), stop, handler).await;
}

/// Accepts connections. `greet` does what comes before the first request, and says who is at the other end.
async fn accept<G, F, S, H, R, B>(listener: TcpListener, greet: G, stop: CancellationToken, handler: H)
where
    G: Fn(TcpStream) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Option<(S, Vec<CertificateDer<'static>>)>> + Send,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Fn(Request<Incoming>, Arc<Peer>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let places = Arc::new(Semaphore::new(connections_within(open_files())));
    loop {
        let place = tokio::select! {
            () = stop.cancelled() => break,
            place = Arc::clone(&places).acquire_owned() => place.expect("the semaphore is never closed"),
        };
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, address)) => {
                let (greet, handler, stop) = (greet.clone(), handler.clone(), stop.clone());
                connections.spawn(async move {
                    let _place = place;
                    let Ok(Some((stream, certificates))) = timeout(PATIENCE, greet(stream)).await else { return };
                    connection(stream, Arc::new(Peer { address, certificates }), handler, &stop).await;
                });
            }
            // Out of file descriptors and the like: wait for connections to end rather than spin.
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    let _ = timeout(GRACE, async { while connections.join_next().await.is_some() {} }).await;
}

/// Raises the limit of open files to what a full server needs, as far as this process may. It is 1024 where a unit says nothing.
pub fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = CONNECTIONS as u64 + OTHER_FILES;
    let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if limit.current.is_some_and(|current| current < raised) {
        limit.current = Some(raised);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!(%error, "cannot raise the limit of open files; fewer connections are served at once");
        }
    }
}

fn open_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Returns how many connections are served at once with a limit of open files: so many that none of them keeps a file from being read.
fn connections_within(open_files: u64) -> usize {
    let left = usize::try_from(open_files.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX);
    let least = usize::try_from(open_files / 4).unwrap_or(usize::MAX).max(1);
    left.max(least).min(CONNECTIONS)
}

async fn connection<S, H, R, B>(stream: S, peer: Arc<Peer>, handler: H, stop: &CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin,
    H: Fn(Request<Incoming>, Arc<Peer>) -> R,
    R: Future<Output = Response<B>>,
    B: Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>> + 'static,
{
    let service = service_fn(|request: Request<Incoming>| {
        let answer = handler(request, Arc::clone(&peer));
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        // Clients hang up as they please; what they got is in the log already.
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_read_by() {
        assert_eq!(connections_within(u64::MAX), CONNECTIONS);
        assert_eq!(connections_within(524_288), CONNECTIONS);
        assert_eq!(connections_within(1024), 768);
        assert_eq!((connections_within(256), connections_within(0)), (64, 1));
    }
}
