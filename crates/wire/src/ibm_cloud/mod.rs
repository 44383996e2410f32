//! What everybody needs who talks to IBM Cloud: an API key, tokens for it, and where services are.
//!
//! Platform and DNS both do, and neither may see the other.

mod credentials;
mod endpoint;
mod error;
mod session;
mod tokens;

pub use credentials::{Credentials, store_key};
pub use endpoint::{Place, endpoint};
pub use error::{Error, Fault};
pub use session::Session;
