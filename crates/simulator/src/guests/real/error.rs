//! Why there are no real hosts.

use std::io;
use std::path::PathBuf;

/// Why real hosts cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RealError {
    /// Something that they need is not there.
    #[error("real hosts cannot run here:\n{}", list(.0))]
    Missing(Vec<String>),
    /// Another simulator uses the network.
    #[error("another simulator has its hosts in {0}; stop it, or choose another --host-network")]
    Taken(ipnet::Ipv4Net),
    /// The state of real hosts is not kept.
    #[error(
        "real hosts end with their simulator, so --state cannot bring them back; leave it out, or use other guests"
    )]
    State,
    /// A file or directory cannot be made or read.
    #[error("cannot use {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A program cannot be run.
    #[error("cannot run {program}")]
    Run {
        /// The program.
        program: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A program failed.
    #[error("'{command}' failed: {message}")]
    Failed {
        /// What was run.
        command: String,
        /// What it said.
        message: String,
    },
    /// The mirror cannot be served.
    #[error("cannot serve programs to the hosts on {address}")]
    Mirror {
        /// Where.
        address: std::net::SocketAddr,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl RealError {
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

fn list(missing: &[String]) -> String {
    missing.iter().map(|reason| format!("  - {reason}")).collect::<Vec<_>>().join("\n")
}
