//! The file that oVirt's command-line tools share: which engine, as whom, and whom to trust.

mod file;
mod written;

pub use file::CredentialsFile;

use landfall_wire::Trust;
use secrecy::SecretString;

use crate::client::EngineUrl;

/// Which engine, as whom, and whom to trust.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The engine.
    pub engine: EngineUrl,
    /// The user, with the profile: `admin@internal`.
    pub user: String,
    /// The password.
    pub password: SecretString,
    /// Whose certificate the engine must have.
    pub trust: Trust,
}
