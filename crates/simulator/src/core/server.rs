//! Listeners: HTTP/1.1 and HTTP/2 over TLS, or HTTP/1.1 in the clear, within limits, until asked to stop.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::body::Body;
use super::connection::{ConnectionControl, Hangup, Socket};
use super::flight;
use super::identity::Identity;

/// How long a connection without requests in flight may take to close when the server stops.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(500);

/// What a service answers: a response, or the end of the connection.
pub type Reply = Result<hyper::Response<Body>, Hangup>;

/// Something that answers requests, streaming both ways if it wants to.
///
/// Implemented for every `async` function or closure from a request to a [`Reply`].
pub trait Service: Send + Sync + 'static {
    /// Answers one request.
    fn call(&self, request: Request<Incoming>) -> BoxFuture<'static, Reply>;
}

impl<F, R> Service for F
where
    F: Fn(Request<Incoming>) -> R + Send + Sync + 'static,
    R: Future<Output = Reply> + Send + 'static,
{
    fn call(&self, request: Request<Incoming>) -> BoxFuture<'static, Reply> {
        Box::pin(self(request))
    }
}

/// What a listener allows.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest request body that the API reads; larger ones are answered with 413.
    pub body_bytes: usize,
    /// How many connections are served at once; further ones wait in the listen queue.
    pub connections: usize,
    /// How long a client may take for the TLS handshake, and from then (or from the last answer) to the end of the
    /// headers of its next request.
    pub header_timeout: Duration,
    /// How long a client may take to send a request's body to the API.
    pub body_timeout: Duration,
    /// How long requests in flight may take to finish once the server was asked to stop.
    pub stop_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 10 * 1024 * 1024,
            connections: 1024,
            header_timeout: Duration::from_mins(1),
            body_timeout: Duration::from_mins(2),
            stop_timeout: Duration::from_secs(10),
        }
    }
}

/// A running listener.
///
/// Dropping it stops it at once; [`Server::stop`] lets requests in flight finish.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stopping: CancellationToken,
    killed: CancellationToken,
    tasks: TaskTracker,
    stop_timeout: Duration,
}

impl Server {
    /// Serves `service` on `listener`, over TLS if there is an `identity`.
    pub fn start(
        listener: TcpListener,
        identity: Option<&Identity>,
        limits: Limits,
        service: Arc<dyn Service>,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let stopping = CancellationToken::new();
        let killed = CancellationToken::new();
        let tasks = TaskTracker::new();
        let connections = Connections {
            tls: identity.map(|identity| TlsAcceptor::from(identity.server_config())),
            limits,
            service,
            stopping: stopping.clone(),
            killed: killed.clone(),
            tasks: tasks.clone(),
        };
        tasks.spawn(killed.clone().run_until_cancelled_owned(Arc::new(connections).accept(listener)));
        tasks.close();
        Ok(Self { address, stopping, killed, tasks, stop_timeout: limits.stop_timeout })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts no more connections, lets requests in flight finish within the limit, and returns when all is closed.
    pub async fn stop(self) {
        self.stopping.cancel();
        if tokio::time::timeout(self.stop_timeout, self.tasks.wait()).await.is_err() {
            tracing::warn!(address = %self.address, "requests still in flight were cut off");
        }
        self.killed.cancel();
        self.tasks.wait().await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.killed.cancel();
    }
}

/// What every connection of a listener shares.
struct Connections {
    tls: Option<TlsAcceptor>,
    limits: Limits,
    service: Arc<dyn Service>,
    stopping: CancellationToken,
    killed: CancellationToken,
    tasks: TaskTracker,
}

impl Connections {
    /// Accepts until asked to stop; each connection is a task of its own.
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        let slots = Arc::new(Semaphore::new(self.limits.connections));
        let next = async || (slots.clone().acquire_owned().await, listener.accept().await);
        while let Some((slot, accepted)) = self.stopping.run_until_cancelled(next()).await {
            match accepted {
                Ok((stream, _)) => {
                    let shared = self.clone();
                    let connection = async move {
                        shared.killed.run_until_cancelled(Box::pin(shared.connect(stream))).await;
                        drop(slot);
                    };
                    self.tasks.spawn(connection);
                }
                Err(error) => {
                    // Out of file descriptors, mostly: wait for connections to end instead of spinning.
                    tracing::warn!(%error, "could not accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// Serves one connection to its end.
    async fn connect(&self, stream: TcpStream) {
        let control = ConnectionControl::default();
        // Small answers should not wait for the client's acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
        let socket = Socket::new(stream, control.clone());
        let Some(tls) = &self.tls else { return self.serve_http1(socket, control).await };
        let handshake = tokio::time::timeout(self.limits.header_timeout, tls.accept(socket));
        match self.stopping.run_until_cancelled(handshake).await {
            Some(Ok(Ok(stream))) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => {
                self.serve_http2(stream, control).await;
            }
            Some(Ok(Ok(stream))) => self.serve_http1(stream, control).await,
            Some(Ok(Err(error))) => tracing::debug!(%error, "TLS handshake failed"),
            Some(Err(_)) => tracing::debug!("TLS handshake took too long"),
            None => {}
        }
    }

    async fn serve_http1<I>(&self, io: I, control: ConnectionControl)
    where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let flights = TaskTracker::new();
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .serve_connection(TokioIo::new(io), self.service(&control, &flights, CancellationToken::new()));
        self.run(connection, &control, &flights, std::future::pending()).await;
    }

    async fn serve_http2<I>(&self, io: I, control: ConnectionControl)
    where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (flights, spoke) = (TaskTracker::new(), CancellationToken::new());
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(self.limits.header_timeout)
            .serve_connection(TokioIo::new(io), self.service(&control, &flights, spoke.clone()));
        // HTTP/2 has no timeout for headers of its own, so a client that never asks anything is dropped here.
        let silence = async {
            if tokio::time::timeout(self.limits.header_timeout, spoke.cancelled()).await.is_ok() {
                std::future::pending::<()>().await;
            }
        };
        self.run(connection, &control, &flights, silence).await;
    }

    /// Serves until the client leaves, the service hangs up, the client is silent for too long, or the server stops and
    /// what is in flight is done.
    async fn run<C>(
        &self,
        connection: C,
        control: &ConnectionControl,
        flights: &TaskTracker,
        silence: impl Future<Output = ()>,
    ) where
        C: GracefulConnection<Error = hyper::Error>,
    {
        let mut connection = pin!(connection);
        let ended = select! {
            ended = &mut connection => ended,
            () = control.hung_up() => return,
            () = silence => return,
            () = self.stopping.cancelled() => {
                connection.as_mut().graceful_shutdown();
                flights.close();
                // An HTTP/2 client that does nothing does not even take leave, and would be waited for in vain.
                let landed = async {
                    flights.wait().await;
                    tokio::time::sleep(LEAVE_TIMEOUT).await;
                };
                select! {
                    ended = connection => ended,
                    () = control.hung_up() => return,
                    () = landed => return,
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "connection ended early");
        }
    }

    /// The service as hyper wants it, turning a hang-up into the end of this connection. A request is among `flights` until
    /// the last of its answer was handed over.
    fn service(
        &self,
        control: &ConnectionControl,
        flights: &TaskTracker,
        spoke: CancellationToken,
    ) -> impl hyper::service::HttpService<Incoming, ResBody = Body, Error = Infallible, Future: Send + 'static> + use<>
    {
        let (service, control, flights) = (self.service.clone(), control.clone(), flights.clone());
        service_fn(move |request| {
            spoke.cancel();
            let (reply, control, token) = (service.call(request), control.clone(), flights.token());
            async move {
                match reply.await {
                    Ok(response) => Ok::<_, Infallible>(flight::keep(response, token)),
                    Err(how) => {
                        control.hang_up(how);
                        std::future::pending().await
                    }
                }
            }
        })
    }
}
