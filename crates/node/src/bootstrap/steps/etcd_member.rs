//! etcd without this machine.

use std::sync::Arc;

use landfall_assets::MachineRole;
use landfall_platform::Context;

use crate::{Error, bootstrap::access, etcd::Etcd, machine::Machine};

/// Has this machine's etcd member leave, when all masters have members that vote.
pub(in crate::bootstrap) struct EtcdMemberLeaves(pub(in crate::bootstrap) Arc<Machine>);

super::step!(EtcdMemberLeaves);

impl EtcdMemberLeaves {
    async fn act(&self, _: &Context) -> Result<(), Error> {
        let bootstrap = self.0.facts.bootstrap.as_ref().ok_or(Error::NoSuchFact("bootstrap"))?;
        let nodes = access::endpoint(&self.0).nodes().await?;
        let masters = nodes.iter().filter(|node| node.role == MachineRole::Master);
        let masters: Vec<_> = masters.filter_map(|node| node.addresses.first().copied()).collect();
        let own = self.0.addresses().await?.main();
        let stay = usize::try_from(bootstrap.masters).unwrap_or(usize::MAX);
        Etcd::of_this_machine()?.leave(&self.0.name, own, &masters, stay).await
    }
}
