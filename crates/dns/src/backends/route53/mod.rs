//! Amazon Route 53.
//!
//! A change is one batch, which is carried out as a whole or not at all. `CREATE` fails if the record set exists, and `DELETE`
//! fails unless time to live and values are exactly as given: so making and removing need no other guard. Only a change of what is
//! there already (`UPSERT`) has no condition of its own: there the mark is read once more just before, and as nobody but its owner
//! takes a mark away, nobody else can have got the name in between.

mod api;
mod document;

use async_trait::async_trait;
use landfall_config::Route53 as Section;
use landfall_platform::Environment;
use tokio::sync::OnceCell;

use self::{
    api::Api,
    document::{Action, HostedZone},
};
use crate::{Backend, Change, Error, Guard, Name, RecordSet, Zone};

/// Amazon Route 53.
pub(crate) struct Route53 {
    api: Api,
    zone_id: Option<String>,
    zone: Name,
    found: OnceCell<HostedZone>,
}

impl Route53 {
    pub(crate) fn new(section: &Section, environment: &Environment) -> Result<Self, Error> {
        let zone = section.zone.as_deref().unwrap_or_default().parse()?;
        let zone_id = section.zone_id.as_deref().map(document::bare_id).map(str::to_owned);
        Ok(Self { api: Api::new(section.endpoint.as_ref(), environment)?, zone_id, zone, found: OnceCell::new() })
    }

    /// The zone, which is looked for once.
    async fn hosted_zone(&self) -> Result<&HostedZone, Error> {
        self.found.get_or_try_init(|| self.find()).await
    }

    async fn find(&self) -> Result<HostedZone, Error> {
        if let Some(id) = &self.zone_id {
            let zone = self.api.zone(id).await?;
            // An id is exact, but that of another zone is a mistake that would only show when records are made.
            if zone.name != self.zone {
                return Err(Error::NoZone { zone: format!("{} with id {id}", self.zone), service: self.describe() });
            }
            return Ok(zone);
        }
        let mut public = self.api.zones_named(&self.zone).await?;
        match (public.len(), public.pop()) {
            (1, Some(id)) => self.api.zone(&id).await,
            (0, _) | (_, None) => Err(Error::NoZone { zone: self.zone.to_string(), service: self.describe() }),
            (count, _) => Err(Error::AmbiguousZone { zone: self.zone.clone(), service: self.describe(), count }),
        }
    }
}

#[async_trait]
impl Backend for Route53 {
    fn describe(&self) -> String {
        self.api.service()
    }

    fn reads_exactly(&self) -> bool {
        true
    }

    async fn zone(&self) -> Result<Zone, Error> {
        let HostedZone { name, name_servers, .. } = self.hosted_zone().await?.clone();
        Ok(Zone { name, name_servers })
    }

    async fn read(&self, names: &[&Name]) -> Result<Vec<RecordSet>, Error> {
        let zone = self.hosted_zone().await?;
        let mut sets = Vec::new();
        for name in names {
            sets.extend(self.api.record_sets_at(&zone.id, name).await?);
        }
        Ok(sets)
    }

    async fn change(&self, change: &Change) -> Result<(), Error> {
        let zone = self.hosted_zone().await?;
        if let Guard::Unchanged(set) = &change.guard
            && !self.read(&[&set.name]).await?.contains(set)
        {
            let answer = "the mark is another one now".to_owned();
            return Err(Error::Guard { name: set.name.clone(), service: self.describe(), answer });
        }
        let same_place = |a: &RecordSet, b: &RecordSet| a.name == b.name && a.kind == b.kind;
        let goes = |set: &&RecordSet| !change.add.iter().any(|new| same_place(new, set));
        let delete = change.delete.iter().filter(goes).map(|set| (Action::Delete, set));
        let add = change.add.iter().filter(|set| !change.delete.contains(set)).map(|set| {
            let replaces = change.delete.iter().any(|old| same_place(old, set));
            (if replaces { Action::Upsert } else { Action::Create }, set)
        });
        let changes: Vec<_> = delete.chain(add).collect();
        let Some((_, first)) = changes.first() else { return Ok(()) };
        match self.api.change(&zone.id, &changes).await {
            // Also the answer to a batch that makes no sense; which it is, the next look at the zone tells.
            Err(Error::Api { code, message, .. }) if code == "InvalidChangeBatch" => {
                Err(Error::Guard { name: first.name.clone(), service: self.describe(), answer: message })
            }
            done => done,
        }
    }

    async fn list(&self) -> Result<Option<Vec<RecordSet>>, Error> {
        let zone = self.hosted_zone().await?;
        self.api.record_sets(&zone.id).await.map(Some)
    }
}
