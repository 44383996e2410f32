//! `landfall-node config-server`.

use std::sync::Arc;

use anyhow::Context as _;
use landfall_assets::MachineRole;
use landfall_node::{
    bootstrap::PROGRESS_FILE,
    config_server::{Bootstrapping, ConfigServer, Current, DiskFiles, DiskIdentity, Peers, serve_with_identity},
    kube::Access,
    machine::Machine,
};

use super::everywhere;
use crate::stop;

pub(crate) async fn run() -> anyhow::Result<()> {
    let machine = Machine::this()?;
    let facts = machine.facts.config_server.as_ref().context("this machine serves no configs")?;
    let identity = Arc::new(DiskIdentity::new(&facts.certificate, &facts.key)?);
    let files = Arc::new(DiskFiles::new(facts, machine.state.join(PROGRESS_FILE)));
    let listener = everywhere::listen(machine.facts.api.config_server_port).await?;
    tracing::info!(address = %listener.local_addr()?, "serving configs");
    let stop = stop::on_signal()?;
    if machine.facts.role == MachineRole::Bootstrap || machine.facts.kubeadm.is_none() {
        // Its configs are as old as the cluster, and there may be no cluster yet.
        let admission = Arc::new(Bootstrapping::new(Arc::clone(&files), &machine));
        let server = Arc::new(ConfigServer::new(files, Arc::clone(&admission) as _));
        return tokio::select! {
            ended = serve_with_identity(listener, identity, server, stop) => Ok(ended?),
            () = admission.keep() => Ok(()),
        };
    }
    let current = Arc::new(Current::new(Arc::clone(&files), Access::of(&machine), Peers::of(&machine.facts)));
    let server = Arc::new(ConfigServer::new(Arc::clone(&current) as _, Arc::clone(&current) as _));
    tokio::select! {
        ended = serve_with_identity(listener, identity, server, stop) => Ok(ended?),
        () = current.keep(&machine) => Ok(()),
    }
}
