//! oVirt and RHV as a platform.
//!
//! The engine is spoken to through [`Client`]; its address and credentials live in the file that oVirt's other tools use
//! ([`CredentialsFile`]); [`Survey`] asks for both and for the platform's section of the install-config.

mod client;
mod credentials;
mod discover;
mod error;
mod fleet;
mod mark;
mod plan;
mod steps;
mod survey;

pub use client::{
    Certificate, Client, Cluster, EngineUrl, Network, Storage, StorageDomain, Template, VnicProfile, fetch_authority,
    probe,
};
pub use credentials::{Credentials, CredentialsFile};
pub use discover::Discovery;
pub use error::Error;
pub use fleet::Fleet;
pub use mark::Mark;
pub use plan::{Facts, Stage, bootstrap_step, plan};
pub use steps::{AffinityGroup, Binder, Desired, Size, Tag, Vm};
pub use survey::Survey;
