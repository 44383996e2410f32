//! Whether the credentials may write: a record is made and removed.

use landfall_config::InstallConfig;
use landfall_platform::{Finding, InfraId};

use super::{Probe, unanswered};
use crate::{
    Backend, Entry, Error, Mark, Name, Target,
    decide::{Decision, ensure, remove},
};

const CHECK: &str = "DNS updates";
/// An address for documentation, which nobody has.
const NOWHERE: std::net::Ipv4Addr = std::net::Ipv4Addr::new(192, 0, 2, 1);
const TTL: u32 = 60;

pub(super) async fn check(
    backend: &dyn Backend,
    config: &InstallConfig,
    infra_id: &InfraId,
    probe: Probe,
) -> Option<Finding> {
    if probe == Probe::ReadOnly {
        return None;
    }
    Some(match attempt(backend, config, infra_id).await {
        Ok(name) => Finding::ok(CHECK, format!("{name} was made and removed")),
        Err(error) => unanswered(CHECK, &error),
    })
}

/// Makes and removes records of the types that every cluster needs. They carry the cluster's mark as all its records do: those of an
/// attempt that died are removed by the next one, and by the removal of the cluster.
async fn attempt(backend: &dyn Backend, config: &InstallConfig, infra_id: &InfraId) -> Result<Name, Error> {
    let name = probe(infra_id, &config.cluster_domain().parse()?)?;
    let entry = Entry::new(name, TTL, &Target::Addresses(vec![NOWHERE.into()]));
    let names = [&Mark::place(&entry.name), &entry.name];
    if let Decision::Change(change) = ensure(&entry, infra_id, &backend.read(&names).await?) {
        match backend.change(&change).await {
            Ok(()) | Err(Error::Guard { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    if let Some(removal) = remove(&entry.name, infra_id, &backend.read(&names).await?) {
        backend.change(&removal).await?;
    }
    Ok(entry.name)
}

/// Returns the name of the record that is made and removed.
pub(crate) fn probe(infra_id: &InfraId, domain: &Name) -> Result<Name, Error> {
    // Name servers take addresses only at names that hosts may have.
    Ok(format!("landfall-probe-{infra_id}.{domain}").parse()?)
}
