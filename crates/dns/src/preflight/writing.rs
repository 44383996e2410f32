//! Whether the credentials may write: a record is made and removed.

use landfall_config::InstallConfig;
use landfall_platform::{Finding, InfraId};

use super::{Probe, unanswered};
use crate::{Backend, Change, Data, Error, Guard, Name, RecordSet};

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

/// Makes and removes records of the types that every cluster needs. Those of an earlier attempt that died are removed, too.
async fn attempt(backend: &dyn Backend, config: &InstallConfig, infra_id: &InfraId) -> Result<Name, Error> {
    // Name servers take addresses only at names that hosts may have.
    let name: Name = format!("landfall-probe-{infra_id}.{}", config.cluster_domain()).parse()?;
    let place: Name = format!("_{name}").parse()?;
    let text = RecordSet::one(place.clone(), TTL, Data::Txt(format!("made by landfall for {infra_id}, to be removed")));
    let address = RecordSet::one(name.clone(), TTL, Data::A(NOWHERE));
    let made = Change { guard: Guard::Free, delete: Vec::new(), add: vec![text.clone(), address.clone()] };
    match backend.change(&made).await {
        Ok(()) | Err(Error::Guard { .. }) => {}
        Err(error) => return Err(error),
    }
    let seen: Vec<RecordSet> = backend.read(&[&place, &name]).await?;
    let removal = Change {
        guard: Guard::Unchanged(text.clone()),
        delete: seen.into_iter().filter(|set| [&text, &address].contains(&set)).collect(),
        add: Vec::new(),
    };
    backend.change(&removal).await?;
    Ok(name)
}
