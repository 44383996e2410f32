//! PowerVM, managed by NovaLink, as a platform.
//!
//! | room | what is in it |
//! |---|---|
//! | [`xml`] | a tree of XML that loses nothing: what is read and written back is the same document |
//! | [`client`] | the REST API of NovaLink and of the HMC, one file per resource |

pub mod client;
mod error;
pub mod xml;

pub use client::Client;
pub use error::{Error, Fault};
