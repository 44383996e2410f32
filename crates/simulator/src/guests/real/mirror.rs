//! The download site of the hosts, which reach no other: the archives and programs that their configs name, by HTTP. Configs
//! carry the digests of everything that they download, so it needs no TLS.

use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha512};
use tokio::net::TcpListener;
use tokio_util::io::ReaderStream;
use tokio_util::task::AbortOnDropHandle;

use super::error::RealError;
use super::site::Site;
use crate::core::hex;

/// The path of the node agent.
const NODE_AGENT: &str = "landfall-node";

/// A download site on the bridge.
#[derive(Debug)]
pub(super) struct Mirror {
    url: String,
    /// The digest of the node agent, if there is one.
    node_agent: Option<String>,
    _task: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct Files {
    archives: PathBuf,
    node_agent: Option<PathBuf>,
}

impl Mirror {
    /// Begins to serve on a free port of the simulator's address.
    pub(super) async fn start(site: &Site, node_agent: Option<&Path>) -> Result<Self, RealError> {
        let address = SocketAddr::new(site.gateway().into(), 0);
        let failed = |source| RealError::Mirror { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let url = format!("http://{}", listener.local_addr().map_err(failed)?);
        let digest = node_agent.map(|path| sha512(path).map_err(RealError::file(path))).transpose()?;
        let files = Files { archives: site.tools.join("mirror"), node_agent: node_agent.map(Path::to_owned) };
        let service = Router::new().fallback(serve).with_state(Arc::new(files));
        let task = tokio::spawn(async move {
            // It ends only with its task.
            let _ = axum::serve(listener, service).await;
        });
        Ok(Self { url, node_agent: digest, _task: AbortOnDropHandle::new(task) })
    }

    /// What an install-config needs to know.
    pub(super) fn ready(&self, site: &Site) -> Value {
        json!({
            "network": site.network,
            "mirror": self.url,
            "digests_file": site.tools.join("digests.yaml"),
            "programs": site.tools.join("bin"),
            "node_agent": self.node_agent.as_ref().map(|digest| json!({
                "url": format!("{}/{NODE_AGENT}", self.url),
                "sha512": digest,
            })),
        })
    }
}

impl Files {
    fn find(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path.trim_start_matches('/'));
        if path == Path::new(NODE_AGENT) {
            return self.node_agent.clone();
        }
        let is_plain = path.components().all(|component| matches!(component, Component::Normal(_)));
        is_plain.then(|| self.archives.join(path))
    }
}

async fn serve(State(files): State<Arc<Files>>, uri: Uri) -> Response {
    let missing = || StatusCode::NOT_FOUND.into_response();
    let Some(path) = files.find(uri.path()) else { return missing() };
    let Ok(file) = tokio::fs::File::open(path).await else { return missing() };
    match file.metadata().await {
        Ok(metadata) if metadata.is_file() => {
            let length = [(header::CONTENT_LENGTH, metadata.len())];
            (length, Body::from_stream(ReaderStream::with_capacity(file, 256 * 1024))).into_response()
        }
        _ => missing(),
    }
}

fn sha512(path: &Path) -> std::io::Result<String> {
    let mut hasher = Sha512::new();
    let mut file = std::fs::File::open(path)?;
    let mut chunk = vec![0; 1 << 20];
    loop {
        match std::io::Read::read(&mut file, &mut chunk)? {
            0 => return Ok(hex::encode(&hasher.finalize())),
            length => hasher.update(&chunk[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_below_the_mirror_is_found() {
        let files = Files { archives: "/m".into(), node_agent: Some("/n".into()) };
        assert_eq!(files.find("/v1/a.tar.gz"), Some("/m/v1/a.tar.gz".into()));
        assert_eq!(files.find("/landfall-node"), Some("/n".into()));
        for path in ["/../etc/passwd", "/v1/../../x", "//etc/passwd/.."] {
            assert_eq!(files.find(path), None, "{path}");
        }
    }
}
