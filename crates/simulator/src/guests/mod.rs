//! Guests that need a network. [Real](RealGuests) ones are described in their module; the rest here are light:
//! machines that do on the network what booting machines do, inside the simulator's process.
//!
//! ```text
//! power on ─► read user data ─► fetch what it points to (pinned CA, token, retries) ─► verify ─► report to the platform
//!                                                                                                      │
//!    bootstrap: VIP, config server, Kubernetes API, manifests, pivot  ◄── the units that the config enables ──► join, kubelet
//! ```
//!
//! What a guest does follows only from the user data it was given and the files in it: without the right token, CA or key it
//! does not come up. All addresses are loopback addresses, so nothing needs root, and thousands run at once. Not modelled:
//! downloads, containers (programs of [`Programs`] stand in for those of pods), etcd's quorum, certificates for kubelets, and the programs on a machine that nobody else sees.

mod admin;
mod boot_script;
mod claim;
mod clusters;
mod console;
mod control;
mod facts;
mod faults;
mod ignition;
mod kube;
mod leases;
mod machine;
mod network;
mod options;
mod pki;
mod pods;
mod real;
mod reservations;
mod runtime;
mod saved;
mod services;
mod shared;
mod static_addresses;
mod system;
mod times;

pub use claim::NetworkClaim;
pub use control::GuestControl;
pub use faults::{GuestEffect, GuestFault};
pub use options::{Authorities, Kind, LightOptions, Options};
pub use pods::{Pod, Program, Programs};
pub use real::{RealError, RealGuests, RealOptions};
pub use runtime::LightGuests;
pub use times::Times;
