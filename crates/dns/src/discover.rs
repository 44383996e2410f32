//! Finds the records of a cluster by their marks.

use std::{collections::BTreeSet, time::Duration};

use async_trait::async_trait;
use landfall_config::{Dns, InstallConfig};
use landfall_platform::{Discover, StepError, StepSpec};

use crate::{
    Binder, Desired, Entry, Error, Mark, Name,
    plan::{RECORD, endpoint_names, entries, step_id, title},
    preflight::probe,
};

/// How long the removal of something that was found may take.
const TIMEOUT: Duration = Duration::from_mins(20);

/// Finds the records of one cluster: in the whole zone if the service lists it, else at the names that its install-config
/// leads to.
pub struct Discovery {
    binder: Binder,
    service: Dns,
    domain: Name,
    names: Vec<Name>,
}

impl Discovery {
    /// For a cluster and its (resolved) section.
    pub fn new(binder: Binder, config: &InstallConfig, service: &Dns) -> Result<Self, Error> {
        let domain: Name = config.cluster_domain().parse()?;
        let names = entries(config, service)?.into_iter().map(|entry| entry.name);
        // Also those whose addresses the install-config does not tell.
        let names = names.chain(endpoint_names(&domain)?);
        // What a run that died left of its look at the service.
        let names: BTreeSet<Name> = names.chain([probe(binder.infra_id(), &domain)?]).collect();
        Ok(Self { binder, service: service.clone(), domain, names: names.into_iter().collect() })
    }

    async fn marked(&self) -> Result<BTreeSet<Name>, Error> {
        if let Dns::Manual(_) = self.service {
            return Ok(BTreeSet::new());
        }
        let backend = self.binder.service(&self.service)?;
        let places: Vec<Name> = self.names.iter().map(Mark::place).collect();
        let mut sets = match backend.read(&places.iter().collect::<Vec<_>>()).await {
            // With the zone its records went.
            Err(Error::NoZone { .. }) => return Ok(BTreeSet::new()),
            read => read?,
        };
        sets.extend(backend.list().await?.unwrap_or_default());
        let marked = sets.iter().filter_map(|set| Some((set, Mark::subject(&set.name)?)));
        let ours = marked.filter(|(set, _)| {
            let marks = Mark::all_in(std::slice::from_ref(*set), &set.name);
            marks.iter().any(|mark| mark.owner == *self.binder.infra_id())
        });
        Ok(ours.map(|(_, name)| name).collect())
    }
}

#[async_trait]
impl Discover for Discovery {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        let found = self.marked().await?.into_iter().map(|name| {
            let entry = Entry { name: name.clone(), ttl: 0, data: Vec::new() };
            let desired = Desired::Record { service: self.service.clone(), entry };
            StepSpec {
                id: step_id(&name, &self.domain),
                title: title(&name),
                kind: RECORD.into(),
                needs: Vec::new(),
                timeout: TIMEOUT,
                desired: serde_json::to_value(desired).expect("what a step makes has string keys only"),
            }
        });
        Ok(found.collect())
    }
}
