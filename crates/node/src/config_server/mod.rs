//! The config server: hands machines the Ignition config of their role.
//!
//! `GET /config/<role>` over TLS, with the role's machine token as a bearer token. Unlike the reference, being on the network
//! is not a credential. `GET /healthz` says whether it is ready, and `GET /progress`, with the token of any role, how far the
//! bootstrap has come.
//!
//! Ignition repeats a request for ever after 5xx and gives up at once after 4xx. So whatever may pass answers 503: not being
//! ready, and asking too often with a wrong token. What can never succeed answers 4xx.

mod answer;
mod current;
mod disk;
mod identity;
mod join_token;
mod negotiation;
mod serve;
pub(crate) mod successors;
mod throttle;
mod tokens;

pub use answer::{Answer, ConfigServer, Query};
pub use current::Current;
pub use disk::DiskFiles;
pub use identity::DiskIdentity;
pub use serve::{ServeError, Tls, serve, serve_with_identity};
pub use tokens::{BadDigest, Tokens};

use bytes::Bytes;

/// Where configs come from. Asked for every request, so that a machine gets what is true now.
pub trait Configs: Send + Sync {
    /// The config of a role, spec 3.3, or `None` if there is no such role.
    fn config(&self, role: &str) -> Option<Bytes>;

    /// How far the bootstrap has come, as JSON, or `None` where there is none.
    fn progress(&self) -> Option<Bytes> {
        None
    }
}

/// Who is let in. Asked for every request, so that a token can be revoked at any time.
pub trait Admission: Send + Sync {
    /// Whether `token` is the role's. The time that it takes does not tell how much of it is right.
    fn admits(&self, role: &str, token: &str) -> bool;

    /// Whether `token` is that of any role.
    fn admits_any(&self, token: &str) -> bool;

    /// Whether it can be told here at all. Where names lead to all machines, a master may ask another before the cluster knows
    /// the masters' token; the bootstrap machine, which does, is asked sooner or later.
    fn knows(&self, _role: &str) -> bool {
        true
    }
}
