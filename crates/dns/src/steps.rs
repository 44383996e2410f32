//! The steps: records at one name, and waits.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use landfall_config::Dns;
use landfall_platform::{Bind, Context, Environment, ErrorClass, InfraId, Outputs, Step, StepError, StepId, StepSpec};
use serde::{Deserialize, Serialize};

use crate::{
    Backend, Data, Entry, Error, Guard, Mark, Name, Network, Servers, Target, connect,
    decide::{self, Decision},
    visible::{self, Patience},
};

/// A wait ends by itself and then says what it saw last; the engine cuts it off only if it does not.
pub(crate) const GRACE: Duration = Duration::from_mins(1);
/// How often a zone may change between reading and writing before somebody else gets the chance to try again later.
const ATTEMPTS: usize = 3;

/// What a step makes. This is what a plan holds, and what the journal keeps: names, never secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "kebab-case")]
pub enum Desired {
    /// Records at one name.
    Record {
        /// Where they are made.
        service: Dns,
        /// What they say. Nothing where they are only removed.
        entry: Entry,
    },
    /// The name of a node, whose address another step tells.
    Node {
        /// Where it is made.
        service: Dns,
        /// The name.
        name: Name,
        /// Time to live in seconds.
        ttl: u32,
        /// The node.
        node: String,
        /// The step that tells addresses.
        source: StepId,
    },
    /// A name of API or ingress, whose addresses other steps tell.
    Endpoint {
        /// Where it is made.
        service: Dns,
        /// The name.
        name: Name,
        /// Time to live in seconds.
        ttl: u32,
        /// The steps that tell addresses or a name.
        sources: Vec<StepId>,
    },
    /// Records that somebody makes by hand.
    Manual {
        /// What they say.
        entries: Vec<Entry>,
    },
    /// Records that the resolver of this machine has to know.
    Resolver {
        /// What they say.
        entries: Vec<Entry>,
    },
}

/// Makes steps act.
#[derive(Clone)]
pub struct Binder {
    infra_id: InfraId,
    environment: Environment,
    network: Network,
    interval: Duration,
    services: Arc<Mutex<HashMap<String, Arc<dyn Backend>>>>,
}

impl Binder {
    /// Steps of a cluster. Whatever is waited for is looked at once per `interval`.
    pub fn new(infra_id: &InfraId, environment: &Environment, network: Network, interval: Duration) -> Self {
        Self {
            infra_id: infra_id.clone(),
            environment: environment.clone(),
            network,
            interval,
            services: Arc::default(),
        }
    }

    /// The connection to a service, which all steps share.
    pub(crate) fn service(&self, section: &Dns) -> Result<Arc<dyn Backend>, Error> {
        let name = serde_json::to_string(section).expect("a section is plain data");
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(service) = services.get(&name) {
            return Ok(Arc::clone(service));
        }
        let none = || Error::NoZone { zone: "of any name".to_owned(), service: "'manual'".to_owned() };
        let service = connect(section, &self.environment, &self.network)?.ok_or_else(none)?;
        services.insert(name, Arc::clone(&service));
        Ok(service)
    }

    pub(crate) fn infra_id(&self) -> &InfraId {
        &self.infra_id
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }
}

impl Bind for Binder {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        let desired = Desired::deserialize(&spec.desired).map_err(|error| StepError::new(ErrorClass::Bug, error))?;
        let patience = Patience { limit: spec.timeout.saturating_sub(GRACE), interval: self.interval };
        Ok(match desired {
            Desired::Record { service, entry } => {
                Arc::new(RecordStep { binder: self.clone(), service, entry, patience })
            }
            Desired::Node { service, name, ttl, node, source } => {
                let entry = Entry { name, ttl, data: Vec::new() };
                let record = RecordStep { binder: self.clone(), service, entry, patience };
                Arc::new(NodeStep { record, node, source })
            }
            Desired::Endpoint { service, name, ttl, sources } => {
                let entry = Entry { name, ttl, data: Vec::new() };
                let record = RecordStep { binder: self.clone(), service, entry, patience };
                Arc::new(EndpointStep { record, sources })
            }
            Desired::Manual { entries } => Arc::new(ManualStep { network: self.network.clone(), entries, patience }),
            Desired::Resolver { entries } => {
                Arc::new(ResolverStep { network: self.network.clone(), entries, patience })
            }
        })
    }
}

struct RecordStep {
    binder: Binder,
    service: Dns,
    entry: Entry,
    patience: Patience,
}

impl RecordStep {
    /// Makes the records, or finds out whose name it is.
    async fn write(&self, backend: &dyn Backend) -> Result<(), Error> {
        let (entry, service) = (&self.entry, backend.describe());
        let place = Mark::place(&entry.name);
        let mut refusal = None;
        for _ in 0..ATTEMPTS {
            let seen = backend.read(&[&place, &entry.name]).await?;
            let change = match decide::ensure(entry, &self.binder.infra_id, &seen) {
                Decision::Nothing => return Ok(()),
                Decision::Foreign(owner) => return Err(Error::Foreign { name: entry.name.clone(), service, owner }),
                Decision::Occupied(records) => return Err(Error::Occupied { records, service }),
                Decision::Change(change) => change,
            };
            // Something is there, and nobody's mark is.
            let records = decide::in_the_way(entry, &seen);
            let really = refusal.is_some() || backend.reads_exactly();
            if really && change.guard == Guard::Free && !records.is_empty() {
                return Err(Error::Occupied { records, service });
            }
            match backend.change(&change).await {
                Err(error @ Error::Guard { .. }) => refusal = Some(error),
                done => return done,
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    async fn erase(&self, backend: &dyn Backend) -> Result<(), Error> {
        let name = &self.entry.name;
        let place = Mark::place(name);
        let mut refusal = None;
        for _ in 0..ATTEMPTS {
            let seen = backend.read(&[&place, name]).await?;
            let Some(change) = decide::remove(name, &self.binder.infra_id, &seen) else { return Ok(()) };
            match backend.change(&change).await {
                Err(error @ Error::Guard { .. }) => refusal = Some(error),
                done => return done,
            }
        }
        refusal.map_or(Ok(()), Err)
    }
}

#[async_trait]
impl Step for RecordStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let backend = self.binder.service(&self.service)?;
        self.write(backend.as_ref()).await?;
        let servers = zone_servers(backend.as_ref(), &self.service, &self.entry, &self.binder.network).await?;
        if servers.found.is_empty() {
            context.report(format!(
                "no name server of {} is known here; {} has the records",
                servers.zone,
                backend.describe()
            ));
        }
        let entries = std::slice::from_ref(&self.entry);
        let silent = visible::at_servers(entries, &servers, self.patience.begin(), context.progress()).await?;
        if silent.len() >= servers.found.len() && matches!(self.service, Dns::Rfc2136(_)) {
            let attempt = format!("looking for {}", self.entry.name);
            return Err(Error::Silence { attempt, server: silent.join(", "), limit: self.patience.interval }.into());
        }
        if !silent.is_empty() {
            context.report(format!("{} cannot be asked from here", silent.join(", ")));
        }
        Ok(Outputs::default().with("name", self.entry.name.as_str()))
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let backend = self.binder.service(&self.service)?;
        match self.erase(backend.as_ref()).await {
            // With the zone its records went.
            Err(Error::NoZone { .. }) => Ok(()),
            done => Ok(done?),
        }
    }
}

struct EndpointStep {
    /// Without data, until the addresses are known.
    record: RecordStep,
    sources: Vec<StepId>,
}

#[async_trait]
impl Step for EndpointStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let target = self.target(context)?;
        let Entry { name, ttl, .. } = &self.record.entry;
        let entry = Entry::new(name.clone(), *ttl, &target);
        let RecordStep { binder, service, patience, .. } = &self.record;
        RecordStep { binder: binder.clone(), service: service.clone(), entry, patience: *patience }
            .ensure(context)
            .await
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        self.record.remove(context, outputs).await
    }
}

impl EndpointStep {
    /// Where the name leads: to the first name that a source tells, else to all addresses.
    fn target(&self, context: &Context) -> Result<Target, StepError> {
        let mut addresses: Vec<IpAddr> = Vec::new();
        for source in &self.sources {
            match context.output::<Name>(source, "hostname") {
                Ok(name) => return Ok(Target::Name(name)),
                Err(_) => addresses.extend(context.output::<Vec<IpAddr>>(source, "addresses")?),
            }
        }
        Ok(Target::Addresses(addresses))
    }
}

struct NodeStep {
    /// Without data, until the address is known.
    record: RecordStep,
    node: String,
    source: StepId,
}

#[async_trait]
impl Step for NodeStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let mut known: BTreeMap<String, Vec<IpAddr>> = context.output(&self.source, "addresses")?;
        let addresses = known.remove(&self.node).unwrap_or_default();
        if addresses.is_empty() {
            let missing = format!("the cluster tells no address of the node {}", self.node);
            return Err(StepError::new(ErrorClass::NotFound, missing));
        }
        // The name leads to its pointers, so it is written after old ones are gone and before new ones are made: whatever is
        // left by a crash can be found from it.
        let (wanted, old) = (self.pointers(&addresses)?, self.pointers(&self.addresses_now().await?)?);
        for pointer in old.into_iter().filter(|pointer| !wanted.contains(pointer)) {
            self.with(pointer).remove(context, None).await?;
        }
        let Entry { name, ttl, .. } = &self.record.entry;
        let made = self.with(Entry::new(name.clone(), *ttl, &Target::Addresses(addresses))).ensure(context).await?;
        for pointer in wanted {
            self.with(pointer).ensure(context).await?;
        }
        Ok(made)
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        for pointer in self.pointers(&self.addresses_now().await?)? {
            self.with(pointer).remove(context, None).await?;
        }
        self.record.remove(context, outputs).await
    }
}

impl NodeStep {
    fn with(&self, entry: Entry) -> RecordStep {
        let RecordStep { binder, service, patience, .. } = &self.record;
        RecordStep { binder: binder.clone(), service: service.clone(), entry, patience: *patience }
    }

    /// The ways back to the node from those addresses that lie in a reverse zone of the service.
    fn pointers(&self, addresses: &[IpAddr]) -> Result<Vec<Entry>, Error> {
        let Dns::Rfc2136(section) = &self.record.service else { return Ok(Vec::new()) };
        let zones = section.reverse_zones.iter().map(|zone| zone.parse()).collect::<Result<Vec<Name>, _>>()?;
        let Entry { name, ttl, .. } = &self.record.entry;
        let pointers = addresses.iter().map(|address| Entry::pointer(*address, *ttl, name.clone()));
        Ok(pointers.filter(|pointer| zones.iter().any(|zone| pointer.name.is_in(zone))).collect())
    }

    /// The addresses that the zone has for the node so far.
    async fn addresses_now(&self) -> Result<Vec<IpAddr>, Error> {
        let backend = self.record.binder.service(&self.record.service)?;
        let sets = match backend.read(&[&self.record.entry.name]).await {
            // With the zone its records went.
            Err(Error::NoZone { .. }) => return Ok(Vec::new()),
            read => read?,
        };
        let address = |data: &Data| match data {
            Data::A(address) => Some(IpAddr::from(*address)),
            Data::Aaaa(address) => Some(IpAddr::from(*address)),
            _ => None,
        };
        Ok(sets.iter().flat_map(|set| &set.data).filter_map(address).collect())
    }
}

/// The name servers that have to have an entry: those of its zone and, for a server that takes updates, that server.
pub(crate) async fn zone_servers(
    backend: &dyn Backend,
    service: &Dns,
    entry: &Entry,
    network: &Network,
) -> Result<Servers, Error> {
    let zone = backend.zone().await?;
    let primary = match service {
        Dns::Rfc2136(section) => Some(network.server(&section.server).await?),
        _ => None,
    };
    let mut servers = if entry.name.is_in(&zone.name) {
        Servers::of(&zone, primary, network).await
    } else {
        // A reverse zone may have other servers than the cluster's zone; the server that took the update has it.
        Servers { zone: zone.name, found: Vec::new(), lost: Vec::new() }
    };
    if let Some(primary) = primary
        && !servers.found.iter().any(|(_, address)| *address == primary)
    {
        servers.found.push((servers.zone.clone(), primary));
    }
    Ok(servers)
}

struct ManualStep {
    network: Network,
    entries: Vec<Entry>,
    patience: Patience,
}

#[async_trait]
impl Step for ManualStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let Some(first) = self.entries.first() else { return Ok(Outputs::default()) };
        let wait = self.patience.begin();
        // The zone itself may have to be made first.
        let servers = loop {
            match Servers::enclosing(&first.name, &self.network).await {
                Some(servers) if !servers.found.is_empty() => break servers,
                _ if wait.is_over() => {
                    let what = format!("no name server of the zone of {} is known here", first.name);
                    return Err(wait.fruitless(what, "the resolver names none".to_owned()).into());
                }
                _ => context.report(format!("looking for the name servers of the zone of {}", first.name)),
            }
            wait.pause().await;
        };
        loop {
            let silent = visible::at_servers(&self.entries, &servers, wait, context.progress()).await?;
            // Nobody has seen the records if nobody answers.
            if silent.len() < servers.found.len() {
                return Ok(Outputs::default().with("zone", servers.zone.as_str()));
            }
            if wait.is_over() {
                return Err(wait
                    .fruitless(format!("no name server of {} answers", servers.zone), silent.join(", "))
                    .into());
            }
            context.report(format!("no answer from {}", silent.join(", ")));
            wait.pause().await;
        }
    }

    async fn remove(&self, context: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.name.as_str()).collect();
        context.report(format!("yours to remove: {}", names.join(", ")));
        Ok(())
    }
}

struct ResolverStep {
    network: Network,
    entries: Vec<Entry>,
    patience: Patience,
}

#[async_trait]
impl Step for ResolverStep {
    /// A machine that installs need not be one that uses the cluster, so names that it cannot see do not end an installation.
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let unseen =
            visible::at_resolver(&self.entries, &self.network, self.patience.begin(), context.progress()).await;
        if let Some(unseen) = &unseen {
            context.report(format!("not seen from this machine: {unseen}"));
        }
        Ok(Outputs::default().with("seen", unseen.is_none()))
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}
