//! The config server: hands machines the Ignition config of their role.
//!
//! `GET /config/<role>` over TLS, with the machine's own credential as a bearer token. Unlike the reference, being on the network
//! is not a credential, and neither is what a machine has left: a credential is used once, and again only by the same machine while it boots.
//! `GET /healthz` says whether it is ready, and `GET /progress`, with the installer's credential, how far the bootstrap has come.
//!
//! Ignition repeats a request for ever after 5xx and gives up at once after 4xx. So whatever may pass answers 503: not being
//! ready, a file that cannot be read, and asking too often with a wrong credential. What can never succeed answers 4xx.

mod answer;
mod bootstrapping;
mod cluster_uses;
mod contract;
mod current;
mod disk;
mod fleet;
mod identity;
mod join_token;
mod local_uses;
mod negotiation;
mod redemption;
mod roots;
mod serve;
pub(crate) mod successors;
mod throttle;

pub use answer::{Answer, ConfigServer, Query};
pub use bootstrapping::Bootstrapping;
pub(crate) use bootstrapping::is_redeemed;
pub use cluster_uses::ClusterUses;
pub use contract::{Admission, Configs, MachineId, Redemption, Unreadable};
pub use current::Current;
pub use disk::DiskFiles;
pub use fleet::Fleet;
pub use identity::DiskIdentity;
/// The credential that [`Admission`] judges.
pub use landfall_machine_api::Credential;
pub use local_uses::LocalUses;
pub use redemption::{BOOT_TIMEOUT, FirstUse, Peers};
pub use roots::Roots;
pub use serve::{ServeError, Tls, serve, serve_with_identity};
