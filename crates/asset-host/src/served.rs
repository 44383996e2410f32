//! Whether somebody else's web server serves what machines will fetch.

use landfall_wire::{Client, Limits, Request, Trust};
use sha2::{Digest as _, Sha256};
use url::Url;

/// What a web server should serve, and does not.
#[derive(Debug, thiserror::Error)]
pub enum ServedError {
    /// It does not answer.
    #[error("{url} cannot be fetched, so no machine could")]
    Exchange {
        /// What.
        url: String,
        /// Why not.
        #[source]
        source: Box<landfall_wire::Error>,
    },
    /// It has nothing there.
    #[error("{url} is answered with status {status}, so no machine would get it")]
    Status {
        /// What.
        url: String,
        /// The answer.
        status: u16,
    },
    /// It serves something else.
    #[error(
        "{url} serves something else than the file that machines are told to expect ({found} bytes, not {wanted}, or others)"
    )]
    Contents {
        /// What.
        url: String,
        /// How many bytes it has.
        found: usize,
        /// How many it should have.
        wanted: usize,
    },
}

/// Fetches a file, as a machine would, and compares it with what it should be.
pub async fn check_served(url: &Url, contents: &[u8]) -> Result<(), ServedError> {
    let failed = |source| ServedError::Exchange { url: url.to_string(), source: Box::new(source) };
    let client = Client::new(&Trust::System, Limits::default()).map_err(failed)?;
    let reply = client.send(Request::get(url.clone())).await.map_err(failed)?;
    if reply.status() != 200 {
        return Err(ServedError::Status { url: url.to_string(), status: reply.status() });
    }
    let found = reply.contents();
    if Sha256::digest(found) == Sha256::digest(contents) {
        return Ok(());
    }
    Err(ServedError::Contents { url: url.to_string(), found: found.len(), wanted: contents.len() })
}
