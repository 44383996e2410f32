//! Packet, later Equinix Metal, as a platform.
//!
//! | room | what is in it |
//! |---|---|
//! | [`client`] | the REST API, one file per resource |
//! | [`Credentials`] | the API key, and where the API is |
//! | [`Survey`] | the questions of `create install-config`, answered from what the account has |
//! | [`preflight()`] | what is wrong, before anything is made; where the machines will stand |
//! | [`plan()`] | every name, size and order, decided without asking anybody |
//! | [`Binder`] | makes the steps of a plan act: project, key, addresses, networks, machines, endpoint |
//! | [`Machines`] | the machine verbs, for the installer and for the controller |
//! | [`Provider`] | what the machine controller needs |
//! | [`Discovery`] | finds what carries a cluster's [`Mark`], whoever made it |

pub mod client;
mod credentials;
mod discover;
mod error;
mod machines;
mod mark;
mod plan;
mod preflight;
mod provider;
mod site;
mod steps;
mod survey;

pub use client::Client;
pub use credentials::Credentials;
pub use discover::Discovery;
pub use error::{Error, Fault};
pub use machines::{Candidate, Device, Machines, Price};
pub use mark::Mark;
pub use plan::{Facts, endpoint_source, plan, record_sources};
pub use preflight::{Preflight, preflight};
pub use provider::Provider;
pub use site::{Project, Site};
pub use steps::{Addresses, Binder, ControlPlane, Desired, Inputs, Led, Network, ProjectStep, SshKeyStep, Target};
pub use survey::Survey;
