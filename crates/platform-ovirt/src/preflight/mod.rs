//! Looks at everything that an installation needs before anything is made, and says all that is wrong at once.
//!
//! One file per subject. Checks run side by side; each returns [`Finding`]s, and some also what the plan needs to know
//! ([`Facts`]).

mod engine;
mod hosts;
mod image;
mod names;
mod network;
mod storage;
mod virtual_ips;

use landfall_config::{InstallConfig, Role, ovirt};
use landfall_platform::{Finding, InfraId};
use landfall_wire::Surroundings;

use crate::{Client, Cluster, Error, Facts, client::DataCenter};

/// What came of looking.
pub type Preflight = landfall_platform::Preflight<Facts>;

/// What all checks look at.
struct Subject<'a> {
    client: &'a Client,
    config: &'a InstallConfig,
    platform: &'a ovirt::Platform,
    infra_id: &'a InfraId,
    surroundings: &'a dyn Surroundings,
}

/// The cluster that machines are made in.
struct Place {
    cluster: Cluster,
    data_center: DataCenter,
}

/// Looks at an engine and at what surrounds the cluster.
pub async fn preflight(
    client: &Client,
    config: &InstallConfig,
    infra_id: &InfraId,
    surroundings: &dyn Surroundings,
) -> Preflight {
    let platform = config.platform.ovirt().expect("only clusters on oVirt are looked at here");
    let subject = Subject { client, config, platform, infra_id, surroundings };
    let mut findings = Vec::new();
    let Some(place) = engine::check(&subject, &mut findings).await else {
        // Every other check would fail for the same reason.
        return Preflight { findings, facts: None };
    };
    let (hosts, storage, network, image, addresses) = futures::join!(
        hosts::check(&subject),
        storage::check(&subject, &place),
        network::check(&subject, &place),
        image::check(&subject),
        virtual_ips::check(&subject),
    );
    let (host_findings, hosts_up) = hosts;
    let (network_findings, vnic_profile_id) = network;
    for part in [host_findings, storage, network_findings, image, addresses] {
        findings.extend(part);
    }
    let facts = vnic_profile_id.map(|id| Facts { hosts_up, vnic_profile_id: Some(id) });
    if let Some(facts) = &facts {
        findings.extend(names::check(&subject, facts).await);
    }
    Preflight { findings, facts }
}

impl Subject<'_> {
    /// All pools with their roles: masters first.
    fn pools(&self) -> impl Iterator<Item = (&landfall_config::MachinePool, Role)> {
        std::iter::once((&self.config.control_plane, Role::Master))
            .chain(self.config.compute.iter().map(|pool| (pool, Role::Worker)))
    }
}

/// The finding for a check that could not be carried out.
fn unanswered(check: &'static str, error: &Error) -> Finding {
    Finding::problem(check, error.chain(), "try again, or look at the engine's health")
}
