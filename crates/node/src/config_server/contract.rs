//! What the config server asks: where configs come from, and who is let in.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use bytes::Bytes;
use landfall_machine_api::{Credential, Maker};

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
    /// The file, or the object of the cluster.
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

/// A machine as its credential names it.
#[derive(Clone, Copy, Debug)]
pub struct MachineId<'a> {
    /// Its name.
    pub name: &'a str,
    /// Who made it.
    pub maker: &'a Maker,
}

impl<'a> MachineId<'a> {
    /// Returns the uid of its object, if a machine controller made it.
    pub const fn uid(self) -> Option<&'a str> {
        if let Maker::Object(uid) = self.maker { Some(uid.as_str()) } else { None }
    }

    /// Returns under which name the use of its credential is kept.
    pub fn key(self) -> String {
        match self.maker {
            Maker::User => self.name.to_owned(),
            Maker::Run(began) => format!("{}.{began}", self.name),
            Maker::Object(uid) => format!("{}.{uid}", self.name),
        }
    }
}

/// Returns true if `key` is one of a machine with this name.
pub(super) fn is_key_of(key: &str, name: &str) -> bool {
    key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Outcome of using a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redemption {
    /// The machine gets its config.
    Granted,
    /// The machine gets no config: the reason, for the log.
    Refused(String),
}

/// Who is let in. Asked for every request, so that credentials can be revoked at any time.
#[async_trait]
pub trait Admission: Send + Sync {
    /// Returns true if a credential is one of the role's. It is asked before anything else, and costs the cluster nothing.
    fn admits(&self, role: &str, credential: &Credential) -> Result<bool, Unreadable>;

    /// Uses the credential of a machine, which has been verified. The first use is on stable storage before this returns; after that the
    /// credential is good for the same peer only, and not for long.
    async fn redeem(&self, role: &str, machine: MachineId<'_>, peer: IpAddr) -> Result<Redemption, Unreadable>;

    /// Whether it can be told here at all. Where names lead to all machines, a master may ask another before the cluster knows
    /// the masters' root; the bootstrap machine, which does, is asked sooner or later.
    fn knows(&self, _role: &str) -> bool {
        true
    }
}
