//! oVirt and RHV as a platform.
//!
//! | room | what is in it |
//! |---|---|
//! | [`client`] | the engine's REST API, one file per resource |
//! | [`CredentialsFile`], [`Survey`] | the engine's address and credentials, and the questions about them and the platform's section |
//! | [`preflight()`] | what is wrong, before anything is made; what the plan has to know |
//! | [`plan()`] | every name, size and order, decided without asking anybody |
//! | [`Binder`] | makes the steps of a plan act: tag, affinity group, template, machine |
//! | [`Machines`] | the machine verbs, for the installer and for the controller |
//! | [`Provider`] | provider specs and credentials, for the controller |
//! | [`Discovery`] | finds what carries a cluster's [`Mark`], whoever made it |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write what need not survive"))]

pub mod client;
mod credentials;
mod discover;
mod error;
mod fleet;
mod image;
mod machines;
mod mark;
mod plan;
mod preflight;
mod provider;
mod site;
mod steps;
mod survey;

pub use client::{
    Certificate, Client, Cluster, EngineUrl, Network, Storage, StorageDomain, Template, VnicProfile, fetch_authority,
    probe,
};
pub use credentials::{Credentials, CredentialsFile};
pub use discover::Discovery;
pub use error::{Error, Fault};
pub use fleet::Fleet;
pub use machines::{Machines, Size, Vm};
pub use mark::Mark;
pub use plan::{Facts, plan};
pub use preflight::{Preflight, preflight};
pub use provider::Provider;
pub use steps::{AffinityGroup, Binder, Desired, Inputs, Tag, Template as OwnTemplate, UserData};
pub use survey::Survey;
