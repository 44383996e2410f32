//! oVirt and RHV as a platform.
//!
//! The engine is spoken to through [`Client`]; its address and credentials live in the file that oVirt's other tools use
//! ([`CredentialsFile`]); [`Survey`] asks for both and for the platform's section of the install-config.

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
mod site;
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
pub use machines::{Machines, Size, Vm};
pub use mark::Mark;
pub use plan::{Facts, Stage, bootstrap_step, plan};
pub use preflight::{LocalNetwork, Preflight, Surroundings, preflight};
pub use steps::{AffinityGroup, Binder, Desired, Inputs, Tag, Template as OwnTemplate};
pub use survey::Survey;
