//! PowerVM, managed by NovaLink, as a platform.
//!
//! | room | what is in it |
//! |---|---|
//! | [`xml`] | a tree of XML that loses nothing: what is read and written back is the same document |
//! | [`client`] | the REST API of NovaLink and of the HMC, one file per resource |
//! | [`Credentials`], [`Survey`] | users and passwords of the servers, and the questions about them and the platform's section |
//! | [`preflight()`] | what is wrong, before anything is made |
//! | [`plan()`] | every name, size and order, decided without asking anybody |
//! | [`Binder`] | makes the steps of a plan act: image, machine |
//! | [`Machines`] | the machine verbs, for the installer and for the controller |
//! | [`Provider`] | provider specs and credentials, for the controller |
//! | [`Discovery`] | finds what carries a cluster's [`Mark`], whoever made it |
//! | [`compute`] | partitions, and all that one can do with them |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write what need not survive"))]

pub mod client;
pub mod compute;
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
pub mod xml;

pub use client::Client;
pub use credentials::Credentials;
pub use discover::Discovery;
pub use error::{Error, Fault};
pub use machines::{Machines, Partition};
pub use mark::Mark;
pub use plan::{Facts, plan};
pub use preflight::{Preflight, preflight};
pub use provider::Provider;
pub use site::Site;
pub use steps::{Binder, Desired, Image, Inputs, UserData};
pub use survey::Survey;
