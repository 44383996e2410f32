//! The steps of a cluster's DNS. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use landfall_config::{Dns, EndpointHolder, InstallConfig};
use landfall_platform::{Kind, StepId, StepSpec};

use crate::{Data, Desired, Entry, Error, Name, Target, cluster_entries, steps::GRACE};

/// Short enough that a mistake does not last, long enough that resolvers need not ask again and again.
const DEFAULT_TTL: u32 = 300;

/// The resolver of this machine may be one that never knows the names: an installation goes on without it.
const RESOLVER_LIMIT: Duration = Duration::from_mins(5);

pub(crate) const RECORD: &str = "dns-record";
pub(crate) const WAIT: &str = "dns-wait";

/// The steps: one per name, or one that waits for somebody to make the records; and one that waits until they are seen here.
pub fn plan(config: &InstallConfig, service: &Dns) -> Result<Vec<StepSpec>, Error> {
    let entries = entries(config, service)?;
    let domain: Name = config.cluster_domain().parse()?;
    let mut steps: Vec<StepSpec> = if let Dns::Manual(_) = service {
        let title = format!("DNS records of {domain}, made by you");
        let desired = Desired::Manual { entries: entries.clone() };
        vec![spec(config, "dns/manual".into(), title, WAIT, &desired)]
    } else {
        let record = |entry: &Entry| {
            let desired = Desired::Record { service: service.clone(), entry: entry.clone() };
            spec(config, step_id(&entry.name, &domain), title(&entry.name), RECORD, &desired)
        };
        entries.iter().map(record).collect()
    };
    let needs = steps.iter().map(|step| step.id.clone()).collect();
    let title = format!("the names of {domain} are known here");
    // Many resolvers never see the reverse zones of private addresses, and nothing waits for the way back.
    let names = entries.into_iter().filter(|entry| entry.name.is_in(&domain)).collect();
    let wait = spec(config, "dns/resolver".into(), title, WAIT, &Desired::Resolver { entries: names });
    steps.push(StepSpec { needs, timeout: wait.timeout.min(RESOLVER_LIMIT + GRACE), ..wait });
    Ok(steps)
}

/// The steps that tell where the names of a cluster lead, if that becomes known during an installation: each has an output
/// `addresses`, or one `hostname` for what has a name of its own, such as a load balancer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// For the API, as users reach it.
    pub api: Vec<StepId>,
    /// For the API, as machines reach it.
    pub internal: Vec<StepId>,
    /// For applications.
    pub ingress: Vec<StepId>,
}

/// The steps for the names of API and ingress whose targets become known during an installation.
pub fn endpoint_steps(config: &InstallConfig, service: &Dns, sources: &Sources) -> Result<Vec<StepSpec>, Error> {
    let Sources { api, internal, ingress } = sources;
    let domain: Name = config.cluster_domain().parse()?;
    let step = |name: Name, sources: &[StepId]| {
        let desired = Desired::Endpoint {
            service: service.clone(),
            name: name.clone(),
            ttl: ttl(service).unwrap_or(DEFAULT_TTL),
            sources: sources.to_vec(),
        };
        let step = spec(config, step_id(&name, &domain), title(&name), RECORD, &desired);
        StepSpec { needs: sources.to_vec(), ..step }
    };
    endpoint_names(&domain)?
        .into_iter()
        .zip([api, internal, ingress])
        .map(|(name, sources)| Ok(step(name, sources)))
        .collect()
}

/// The names of the API for users, of the API for machines, and of applications.
pub(crate) fn endpoint_names(domain: &Name) -> Result<[Name; 3], Error> {
    Ok([domain.child("api")?, domain.child("api-int")?, domain.child("*.apps")?])
}

fn ttl(service: &Dns) -> Option<u32> {
    match service {
        Dns::Rfc2136(section) => section.ttl,
        Dns::Route53(section) => section.ttl,
        Dns::Cloudflare(section) => section.ttl,
        Dns::Cis(section) | Dns::DnsServices(section) => section.ttl,
        Dns::Manual(section) => section.ttl,
    }
}

/// The steps for the names of nodes, if they are wanted. Their addresses are known once the cluster is up: `source` is the step
/// that tells them, as an output `addresses` that maps nodes to addresses.
pub fn node_steps(
    config: &InstallConfig,
    service: &Dns,
    nodes: &[String],
    source: &StepId,
) -> Result<Vec<StepSpec>, Error> {
    let (wanted, ttl) = match service {
        Dns::Rfc2136(section) => (section.nodes, section.ttl),
        Dns::Route53(section) => (section.nodes, section.ttl),
        Dns::Cloudflare(section) => (section.nodes, section.ttl),
        Dns::Cis(section) | Dns::DnsServices(section) => (section.nodes, section.ttl),
        Dns::Manual(_) => (false, None),
    };
    let domain: Name = config.cluster_domain().parse()?;
    let step = |node: &String| {
        let name = domain.child(node)?;
        let desired = Desired::Node {
            service: service.clone(),
            name: name.clone(),
            ttl: ttl.unwrap_or(DEFAULT_TTL),
            node: node.clone(),
            source: source.clone(),
        };
        let step = spec(config, step_id(&name, &domain), title(&name), RECORD, &desired);
        Ok(StepSpec { needs: vec![source.clone()], ..step })
    };
    nodes.iter().filter(|_| wanted).map(step).collect()
}

fn spec(config: &InstallConfig, id: StepId, title: String, kind: &str, desired: &Desired) -> StepSpec {
    StepSpec {
        id,
        title,
        kind: kind.into(),
        needs: Vec::new(),
        timeout: config.timeouts.dns.duration() + GRACE,
        desired: serde_json::to_value(desired).expect("what a step makes has string keys only"),
    }
}

/// The entries of a cluster, as its install-config describes them.
pub(crate) fn entries(config: &InstallConfig, service: &Dns) -> Result<Vec<Entry>, Error> {
    let (ttl, reverse_zones) = settings(service)?;
    let (api, ingress) = (config.api_vips().to_vec(), config.ingress_vips().to_vec());
    let (api, ingress) = (Target::Addresses(api), Target::Addresses(ingress));
    Ok(cluster_entries(config, ttl, &api, &ingress, &reverse_zones)?)
}

/// The time to live of a service's records, and its zones for the way back from addresses.
fn settings(service: &Dns) -> Result<(u32, Vec<Name>), Error> {
    let (ttl, reverse_zones) = match service {
        Dns::Rfc2136(section) => (section.ttl, section.reverse_zones.as_slice()),
        Dns::Route53(section) => (section.ttl, [].as_slice()),
        Dns::Cloudflare(section) => (section.ttl, [].as_slice()),
        Dns::Cis(section) | Dns::DnsServices(section) => (section.ttl, [].as_slice()),
        Dns::Manual(section) => (section.ttl, [].as_slice()),
    };
    let reverse_zones = reverse_zones.iter().map(|zone| zone.parse()).collect::<Result<Vec<Name>, _>>()?;
    Ok((ttl.unwrap_or(DEFAULT_TTL), reverse_zones))
}

/// The steps for further records that are known before anything runs, such as those of machines: one per name. The names that
/// [`plan`] makes are left to it, and the way back from an address is made where the service has a zone for it. None if somebody
/// makes the records by hand.
pub fn record_steps(
    config: &InstallConfig,
    service: &Dns,
    records: impl IntoIterator<Item = (Name, Data)>,
) -> Result<Vec<StepSpec>, Error> {
    if let Dns::Manual(_) = service {
        return Ok(Vec::new());
    }
    let (ttl, zones) = settings(service)?;
    let domain: Name = config.cluster_domain().parse()?;
    let planned: BTreeSet<Name> = entries(config, service)?.into_iter().map(|entry| entry.name).collect();
    let mut further: BTreeMap<Name, Vec<Data>> = BTreeMap::new();
    for (name, data) in records {
        let has_zone = !matches!(data, Data::Ptr(_)) || zones.iter().any(|zone| name.is_in(zone));
        if has_zone && !planned.contains(&name) {
            further.entry(name).or_default().push(data);
        }
    }
    let step = |(name, data): (Name, Vec<Data>)| {
        let (id, title) = (step_id(&name, &domain), title(&name));
        let entry = Entry { name, ttl, data };
        spec(config, id, title, RECORD, &Desired::Record { service: service.clone(), entry })
    };
    Ok(further.into_iter().map(step).collect())
}

/// The same, also where the platform chooses the addresses later: then with one that stands for them, since whether a name is free
/// does not depend on where it will lead.
pub(crate) fn entries_to_come(config: &InstallConfig, service: &Dns) -> Result<Vec<Entry>, Error> {
    let known = entries(config, service)?;
    if !known.is_empty() || config.endpoint_holder() != EndpointHolder::Platform {
        return Ok(known);
    }
    let anywhere = Target::Addresses(vec![[192, 0, 2, 1].into()]);
    let names = endpoint_names(&config.cluster_domain().parse()?)?;
    Ok(names.into_iter().map(|name| Entry::new(name, ttl(service).unwrap_or(DEFAULT_TTL), &anywhere)).collect())
}

/// The section of an install-config with everything that it leaves to be understood: the zone is that of the base domain, and
/// files lie relative to the install directory.
pub fn resolved(service: &Dns, config: &InstallConfig, dir: &Path) -> Dns {
    let base = config.base_domain.trim_end_matches('.');
    let zone = |zone: &Option<String>| Some(zone.as_deref().unwrap_or(base).trim_end_matches('.').to_owned());
    let file = |path: &str| dir.join(path).to_string_lossy().into_owned();
    let mut service = service.clone();
    match &mut service {
        Dns::Rfc2136(section) => {
            section.zone = zone(&section.zone);
            section.key_file = file(&section.key_file);
        }
        Dns::Route53(section) => section.zone = zone(&section.zone),
        Dns::Cloudflare(section) => {
            section.zone = zone(&section.zone);
            section.token_file = file(&section.token_file);
        }
        Dns::Cis(section) | Dns::DnsServices(section) => {
            section.zone = zone(&section.zone);
            if let Some(platform) = config.platform.powervs() {
                section.service_endpoints = section.service_endpoints.or(&platform.service_endpoints);
            }
        }
        Dns::Manual(_) => {}
    }
    service
}

/// Whether a step belongs to DNS.
pub fn is_dns(kind: &Kind) -> bool {
    [RECORD, WAIT].contains(&kind.as_str())
}

/// Whether a step makes names exist that machines ask for when they start.
pub fn is_record(step: &StepSpec) -> bool {
    is_dns(&step.kind) && step.id != "dns/resolver".into()
}

pub(crate) fn step_id(name: &Name, domain: &Name) -> StepId {
    format!("dns/{}", name.below(domain).unwrap_or(name.as_str())).into()
}

pub(crate) fn title(name: &Name) -> String {
    format!("DNS records of {name}")
}
