//! The config server: hands machines the Ignition config of their role.
//!
//! `GET /config/<role>` over TLS, with the role's machine token as a bearer token. Unlike the reference, being on the network
//! is not a credential. `GET /healthz` says whether it is ready.
//!
//! Ignition repeats a request for ever after 5xx and gives up at once after 4xx. So whatever may pass answers 503: not being
//! ready, and asking too often with a wrong token. What can never succeed answers 4xx.

mod answer;
mod negotiation;
mod serve;
mod throttle;
mod tokens;

pub use answer::{Answer, ConfigServer, Query};
pub use serve::{ServeError, Tls, serve};
pub use tokens::{BadDigest, Tokens};

use bytes::Bytes;

/// Where configs come from. Asked for every request, so that a machine gets what is true now.
pub trait Configs: Send + Sync {
    /// The config of a role, spec 3.3, or `None` if there is no such role.
    fn config(&self, role: &str) -> Option<Bytes>;
}
