//! Health and figures, over plain HTTP.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http_body_util::Full;
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::{Error, Metrics};

/// What is served.
#[derive(Clone)]
pub(crate) struct Vitals {
    pub(crate) metrics: Metrics,
    /// Whether what is to be followed is known; also true for those that wait to lead.
    pub(crate) ready: Arc<AtomicBool>,
}

/// Listens at an address.
pub(crate) async fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })
}

/// Serves `/healthz`, `/readyz` and `/metrics`, for as long as the future is polled.
pub(crate) async fn serve(listener: TcpListener, vitals: Vitals) {
    // waits: a server, which serves for as long as its future is polled
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        let vitals = vitals.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request: Request<Incoming>| {
                let response = answer(request.uri().path(), &vitals);
                async move { Ok::<_, Infallible>(response) }
            });
            let timed = http1::Builder::new()
                .timer(hyper_util::rt::TokioTimer::new())
                .serve_connection(TokioIo::new(stream), answer)
                .await;
            if let Err(error) = timed {
                tracing::trace!(%error, "a reader of metrics went away");
            }
        });
    }
}

fn answer(path: &str, vitals: &Vitals) -> Response<Full<Bytes>> {
    let (status, body) = match path {
        "/healthz" => (200, "ok\n".to_owned()),
        "/readyz" if vitals.ready.load(Ordering::SeqCst) => (200, "ok\n".to_owned()),
        "/readyz" => (503, "the objects of the cluster are not known yet\n".to_owned()),
        "/metrics" => (200, vitals.metrics.text()),
        _ => (404, "there is /healthz, /readyz and /metrics\n".to_owned()),
    };
    let kind =
        if path == "/metrics" { "application/openmetrics-text; version=1.0.0; charset=utf-8" } else { "text/plain" };
    let response = Response::builder().status(status).header("content-type", kind).body(Full::new(Bytes::from(body)));
    response.expect("status and header are well formed")
}
