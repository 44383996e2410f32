//! IBM Power Virtual Server as a platform.
//!
//! Machines are in a workspace of Power Virtual Server. It has no load balancers, so those of a VPC next door bring traffic to them, over
//! a transit gateway that joins the VPC and the workspace's edge router.
//!
//! | room | what is in it |
//! |---|---|
//! | [`client`] | the APIs of IBM Cloud, one file per resource |
//! | [`Credentials`] | the API key, and where services are |
//! | [`Survey`] | questions about an account, for the install-config |
//! | [`preflight()`] | what is wrong, before anything is made |
//! | [`plan()`] | every name, size and order, decided without asking anybody |
//! | [`Binder`] | makes the steps of a plan act |
//! | [`Machines`] | the machine verbs, for the installer and for the controller |
//! | [`Provider`] | what the machine controller needs |
//! | [`Discovery`] | finds what carries a cluster's [`Mark`], whoever made it |

pub mod client;
mod credentials;
mod dhcp;
mod discover;
mod error;
mod finder;
mod machines;
mod mark;
mod own;
mod plan;
mod preflight;
mod provider;
mod site;
mod steps;
mod survey;

pub use client::Client;
pub use credentials::Credentials;
pub use discover::Discovery;
pub use error::Error;
pub use machines::{Machines, Named, Vm};
pub use mark::Mark;
pub use plan::{Facts, endpoint_members, endpoint_source, plan, record_sources, temporary_steps};
pub use preflight::{Preflight, preflight};
pub use provider::Provider;
pub use site::{Site, Whereabouts};
pub use steps::{
    Binder, BootConfig, Connection, Desired, Dhcp, Image, ImageSource, Inputs, LoadBalancer, Members, ObjectStorage,
    PublicGateway, SecurityGroup, SshKey, Subnet, Tag, TransitGateway, UserData, Vpc, Workspace,
};
pub use survey::Survey;
