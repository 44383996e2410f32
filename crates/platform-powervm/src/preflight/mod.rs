//! Looks at everything that an installation needs before anything is made, and says all that is wrong at once.
//!
//! One file per subject. Servers are looked at side by side; each check returns [`Finding`]s.

mod names;
mod network;
mod room;
mod server;
mod storage;
mod virtual_ips;

use futures::future::join_all;
use landfall_config::{InstallConfig, powervm};
use landfall_platform::{Finding, error_chain};
use landfall_wire::Surroundings;

use crate::{Error, Facts, Site, client::ManagedSystem, site::Member};

/// What came of looking.
pub type Preflight = landfall_platform::Preflight<Facts>;

/// What all checks look at.
struct Subject<'a> {
    site: &'a Site,
    config: &'a InstallConfig,
    platform: &'a powervm::Platform,
    surroundings: &'a dyn Surroundings,
}

/// A server that answers.
struct Server<'a> {
    member: &'a Member,
    system: ManagedSystem,
}

/// Looks at the servers and at what surrounds the cluster.
pub async fn preflight(site: &Site, config: &InstallConfig, surroundings: &dyn Surroundings) -> Preflight {
    let platform = config.platform.powervm().expect("only clusters on PowerVM are looked at here");
    let subject = Subject { site, config, platform, surroundings };
    let mut findings = Vec::new();
    let mut servers = Vec::new();
    for (part, server) in join_all(site.members().iter().map(server::check)).await {
        findings.extend(part);
        servers.extend(server);
    }
    findings.extend(room::check(&subject, &servers));
    let (storage, network, names, addresses) = futures::join!(
        storage::check(&subject, &servers),
        network::check(&subject, &servers),
        names::check(&subject),
        virtual_ips::check(&subject),
    );
    for part in [storage, network, names, addresses] {
        findings.extend(part);
    }
    Preflight { findings, facts: Some(Facts) }
}

/// The finding for a check that could not be carried out.
fn unanswered(check: &'static str, error: &Error) -> Finding {
    Finding::problem(check, error_chain(error), "try again, or look at the server's health")
}
