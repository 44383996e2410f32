//! The name server of a machine: the cluster's names from what is known of it, everything else from the site's servers.
//!
//! Every machine has one and asks it first, so no name of the cluster depends on another machine. The host's own DNS does not
//! depend on it either: the resolver is handed over only after the server has answered, keeps the site's servers behind it,
//! and gets its old settings back when the server stops.

mod forward;
mod handover;
mod lookup;
pub mod mdns;
mod resolv_conf;
mod respond;
mod run;
mod server;
mod zone;

pub use forward::Forwarder;
pub use handover::{Handover, Places, RESOLVED_DROPIN};
pub use lookup::{Family, lookup};
pub use resolv_conf::{ResolvConf, upstreams};
pub use run::{run, self_test};
pub use server::{Neighbours, serve};
pub use zone::{Found, Zone};
