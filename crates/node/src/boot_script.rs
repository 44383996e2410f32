//! The iPXE script for machines that boot from the network, in plain HTTP: firmware trusts none but public authorities, and
//! nothing in the script is secret.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request, Response, StatusCode, body::Incoming, header};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::listener;

const PATH: &str = "/boot.ipxe";

/// Serves a script, and nothing else, until `stop` is cancelled.
pub async fn serve(listener: TcpListener, script: Bytes, stop: CancellationToken) {
    listener::serve_plain(listener, stop, move |request, peer| {
        let answer = respond(&request, &script);
        tracing::info!(peer = %peer.address, path = request.uri().path(), status = answer.status().as_u16(), "script asked for");
        std::future::ready(answer)
    })
    .await;
}

fn respond(request: &Request<Incoming>, script: &Bytes) -> Response<Full<Bytes>> {
    let (status, body) = match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, PATH) => (StatusCode::OK, script.clone()),
        (&Method::GET | &Method::HEAD, _) => (StatusCode::NOT_FOUND, Bytes::from_static(b"there is /boot.ipxe\n")),
        _ => (StatusCode::METHOD_NOT_ALLOWED, Bytes::from_static(b"only GET and HEAD are answered here\n")),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain"));
    response
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
    };

    use super::*;

    async fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(format!("{request} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn the_script_and_nothing_else_is_served() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let serving = tokio::spawn(serve(listener, Bytes::from_static(b"#!ipxe\nboot\n"), stop.clone()));
        let answer = ask(address, "GET /boot.ipxe").await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("#!ipxe\nboot\n"), "{answer}");
        assert!(ask(address, "HEAD /boot.ipxe").await.starts_with("HTTP/1.1 200"));
        assert!(ask(address, "GET /config/worker").await.starts_with("HTTP/1.1 404"));
        assert!(ask(address, "POST /boot.ipxe").await.starts_with("HTTP/1.1 405"));
        stop.cancel();
        serving.await.unwrap();
    }
}
