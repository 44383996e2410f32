//! The public DNS records of a cluster, in somebody else's zone.
//!
//! No platform of Landfall has DNS of its own, so every one of them needs a few records in a zone that others use as well.
//! That decides the design:
//!
//! - **What is made is an [`Entry`]**: everything that a cluster keeps at one name (A and AAAA, or CNAME, PTR, SRV) together with
//!   its [`Mark`], a TXT record beside the name that says whose it is and which types it covers. An entry is one engine step:
//!   `ensure` and `remove`, like everything else.
//! - **A record that is not ours is never touched.** Every [`Change`] carries a [`Guard`]: either "nothing is there yet" or "the
//!   mark is still exactly as it was read". Backends make guard and change one transaction where they can: RFC 2136 by
//!   prerequisites, Route 53 by a batch in which what is made must not exist and what is removed must be as it was read.
//!   Cloudflare and the services of IBM Cloud have neither; there the mark is made first, read back, and the older of two marks wins. So two clusters that
//!   reach for one name at the same moment cannot both get it, a zone that changes behind our back is noticed, and a lost
//!   reply is harmless.
//! - **Deciding is pure** ([`decide`](mod@decide)): what was read and what is wanted go in, a change comes out. Backends only read and
//!   change; they know nothing of clusters.
//! - **Written is not visible.** After a change every name server of the zone is asked, and then the resolver of this machine,
//!   whose cache may hold an older answer: progress says for how long.
//! - **Descriptions of steps are complete** (which backend, which zone, which file holds the secret; never the secret), so that
//!   a removal needs neither the install-config nor what it said at the time.
//!
//! `dns-update`, which speaks to all these services, is not used: it sets and removes whole record sets, without prerequisites
//! or batches, and tells errors as text; guard and error class are what this crate is about.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Entry`], [`cluster_entries`] | which records a cluster needs |
//! | [`Mark`] | whose a record is |
//! | [`mod@decide`] | what to change |
//! | [`Backend`], [`connect`] | the services: `rfc2136`, `route53`, `cloudflare`, `cis`, `dnsServices` |
//! | `client` | the DNS protocol itself: queries, signed updates, transfers |
//! | [`Servers`], [`Network`] | the name servers of a zone and the resolver of this machine |
//! | [`plan`], [`Binder`], [`Discovery`] | steps for the engine, and how they are found again |
//! | [`preflight()`] | what is wrong, before anything is made |
//! | [`manual`] | records for people to make: a zone snippet and a table |
//!
//! To add a service: one file in `backends/`, one arm in [`connect`], a section in the install-config.

mod backend;
mod backends;
mod client;
mod data;
pub mod decide;
mod discover;
mod entry;
mod error;
mod look;
pub mod manual;
mod mark;
mod name;
mod network;
mod plan;
mod preflight;
mod secret_file;
mod servers;
mod steps;
mod visible;

pub use backend::{Backend, Change, Guard, Zone};
pub use backends::connect;
pub use data::{Data, RecordSet, Service, Type};
pub use discover::Discovery;
pub use entry::{Entry, Target, cluster_entries};
pub use error::Error;
pub use look::{Seen, ask_resolver, ask_zone};
pub use mark::Mark;
pub use name::{Name, NameError};
pub use network::Network;
pub use plan::{Sources, endpoint_steps, is_dns, is_record, node_steps, plan, record_steps, resolved};
pub use preflight::{Probe, preflight};
pub use servers::Servers;
pub use steps::{Binder, Desired};
