//! What every service can do.

use async_trait::async_trait;

use crate::{Error, Name, RecordSet};

/// A service that holds zones.
///
/// It reads and changes record sets, and knows nothing of clusters. Calls may be repeated at any time; none of them retries.
#[async_trait]
pub trait Backend: Send + Sync {
    /// What it is, for people: `name server ns1.example.com`.
    fn describe(&self) -> String;

    /// Finds the zone. The first call of every preflight: it shows that the service can be reached and knows who is asking.
    async fn zone(&self) -> Result<Zone, Error>;

    /// Whether [`read`](Self::read) tells records from wildcards that cover their names. DNS itself does not: there what is
    /// read is a hint, and the guard of a change decides.
    fn reads_exactly(&self) -> bool;

    /// The record sets at some names, all types of [`Type`](crate::Type). Never from a cache.
    async fn read(&self, names: &[&Name]) -> Result<Vec<RecordSet>, Error>;

    /// Makes a change if its guard holds, else fails with [`Error::Guard`] and changes nothing. Returns when the service has
    /// taken the change over, which need not mean that its name servers have.
    async fn change(&self, change: &Change) -> Result<(), Error>;

    /// All record sets of the zone; none if the service does not let us list them.
    async fn list(&self) -> Result<Option<Vec<RecordSet>>, Error>;
}

/// A zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Its name.
    pub name: Name,
    /// The name servers that serve it, as the service says.
    pub name_servers: Vec<Name>,
}

/// A change of a zone, all of it or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What must hold.
    pub guard: Guard,
    /// What is there and goes away, as it was read.
    pub delete: Vec<RecordSet>,
    /// What comes, in place of what goes away. Marks come first.
    pub add: Vec<RecordSet>,
}

/// What must hold for a change to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Nothing that the change adds exists, and no record that would stand in its way.
    Free,
    /// A record set is exactly as it was read.
    Unchanged(RecordSet),
}
