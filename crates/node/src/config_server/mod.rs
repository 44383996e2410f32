//! The config server: hands machines the Ignition config of their role.
//!
//! `GET /config/<role>` over TLS, with the role's machine token as a bearer token. Unlike the reference, being on the network
//! is not a credential. `GET /healthz` says whether it is ready, and `GET /progress`, with the token of any role, how far the
//! bootstrap has come.
//!
//! Ignition repeats a request for ever after 5xx and gives up at once after 4xx. So whatever may pass answers 503: not being
//! ready, a file that cannot be read, and asking too often with a wrong token. What can never succeed answers 4xx.

mod answer;
mod contract;
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
pub use contract::{Admission, Configs, Unreadable};
pub use current::Current;
pub use disk::DiskFiles;
pub use identity::DiskIdentity;
pub use serve::{ServeError, Tls, serve, serve_with_identity};
pub use tokens::{BadDigest, Tokens};
