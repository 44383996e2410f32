//! What the config server asks: where configs come from, and who is let in.

use std::path::{Path, PathBuf};

use bytes::Bytes;

/// Where configs come from. Asked for every request, so that a machine gets what is true now.
pub trait Configs: Send + Sync {
    /// The config of a role, spec 3.3, or `None` if there is no such role.
    fn config(&self, role: &str) -> Result<Option<Bytes>, Unreadable>;

    /// How far the bootstrap has come, as JSON, or `None` where there is none.
    fn progress(&self) -> Result<Option<Bytes>, Unreadable> {
        Ok(None)
    }
}

/// It cannot be told now, and perhaps later: this is not an answer that a machine should give up on.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}", path.display())]
pub struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// What the system answered, or what is wrong with the contents.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl Unreadable {
    pub(super) fn new(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { path: path.to_owned(), source: source.into() }
    }
}

/// Who is let in. Asked for every request, so that a token can be revoked at any time.
pub trait Admission: Send + Sync {
    /// Whether `token` is the role's. The time that it takes does not tell how much of it is right.
    fn admits(&self, role: &str, token: &str) -> Result<bool, Unreadable>;

    /// Whether `token` is that of any role.
    fn admits_any(&self, token: &str) -> Result<bool, Unreadable>;

    /// Whether it can be told here at all. Where names lead to all machines, a master may ask another before the cluster knows
    /// the masters' token; the bootstrap machine, which does, is asked sooner or later.
    fn knows(&self, _role: &str) -> bool {
        true
    }
}
