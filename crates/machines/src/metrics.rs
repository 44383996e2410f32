//! What can be counted, for Prometheus.

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU64},
};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// What can be counted. Clones count together.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    looks: Family<Look, Counter>,
    platform_calls: Family<Call, Counter>,
    machines: Family<PhaseLabel, Gauge<i64, AtomicI64>>,
    listings: Counter<u64, AtomicU64>,
    fleet: Gauge,
    reachable: Gauge,
    leads: Gauge,
    requests: Family<Judged, Counter>,
    refused: Family<Refused, Gauge<i64, AtomicI64>>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Refused {
    reason: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Look {
    controller: String,
    outcome: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Call {
    verb: String,
    outcome: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PhaseLabel {
    phase: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Judged {
    verdict: String,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("landfall_machines");
        let (looks, platform_calls, machines) = (Family::default(), Family::default(), Family::default());
        let (listings, fleet, reachable, leads) =
            (Counter::default(), Gauge::default(), Gauge::default(), Gauge::default());
        let requests: Family<Judged, Counter> = Family::default();
        // Those who watch a figure should find it before anything has happened.
        for verdict in ["approved", "left"] {
            let _known = requests.get_or_create(&Judged { verdict: verdict.to_owned() });
        }
        registry.register("reconciliations", "Objects that were looked at", looks.clone());
        registry.register("platform_operations", "Machine verbs on the platform", platform_calls.clone());
        registry.register("machines", "Machines by phase", machines.clone());
        let refused: Family<Refused, Gauge<i64, AtomicI64>> = Family::default();
        {
            let _known = refused.get_or_create(&Refused { reason: "OutOfCapacity".to_owned() });
        }
        registry.register("machines_refused", "Machines that wait because of a refusal", refused.clone());
        registry.register("fleet_listings", "Listings of the fleet", listings.clone());
        registry.register("fleet_instances", "Instances that the last listing found", fleet.clone());
        registry.register("platform_reachable", "Whether the last listing succeeded", reachable.clone());
        registry.register("leads", "Whether this process leads", leads.clone());
        registry.register("certificate_requests", "Certificate requests that were judged", requests.clone());
        Self {
            registry: Arc::new(registry),
            looks,
            platform_calls,
            machines,
            listings,
            fleet,
            reachable,
            leads,
            requests,
            refused,
        }
    }
}

impl Metrics {
    pub(crate) fn looked(&self, controller: &str, well: bool) {
        self.looks.get_or_create(&Look { controller: controller.to_owned(), outcome: outcome(well) }).inc();
    }

    pub(crate) fn operated(&self, verb: &str, well: bool) {
        self.platform_calls.get_or_create(&Call { verb: verb.to_owned(), outcome: outcome(well) }).inc();
    }

    pub(crate) fn listed(&self, found: Option<usize>) {
        self.listings.inc();
        self.reachable.set(i64::from(found.is_some()));
        if let Some(found) = found {
            self.fleet.set(i64::try_from(found).unwrap_or(i64::MAX));
        }
    }

    pub(crate) fn phases<'a>(&self, phases: impl Iterator<Item = &'a str>) {
        let mut counts = std::collections::BTreeMap::from(
            ["Pending", "Provisioning", "Provisioned", "Running", "Deleting", "Failed"].map(|phase| (phase, 0)),
        );
        for phase in phases {
            *counts.entry(phase).or_default() += 1;
        }
        for (phase, count) in counts {
            self.machines.get_or_create(&PhaseLabel { phase: phase.to_owned() }).set(count);
        }
    }

    pub(crate) fn refused(&self, counts: &std::collections::BTreeMap<&'static str, i64>) {
        // Reasons that have gone are not to stay at what they were.
        self.refused.clear();
        let out_of_capacity = std::iter::once(("OutOfCapacity", 0));
        for (reason, count) in out_of_capacity.chain(counts.iter().map(|(reason, count)| (*reason, *count))) {
            self.refused.get_or_create(&Refused { reason: reason.to_owned() }).set(count);
        }
    }

    pub(crate) fn leads(&self, leads: bool) {
        self.leads.set(i64::from(leads));
    }

    pub(crate) fn judged(&self, verdict: &str) {
        self.requests.get_or_create(&Judged { verdict: verdict.to_owned() }).inc();
    }

    /// All figures, in the text format.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a text does not fail.
        let _written = encode(&mut text, &self.registry);
        text
    }
}

fn outcome(well: bool) -> String {
    if well { "ok" } else { "error" }.to_owned()
}
