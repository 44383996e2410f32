//! `landfall-node etcd`.

use landfall_node::{etcd, machine::Machine};

use crate::stop;

pub(crate) async fn run() -> anyhow::Result<()> {
    let machine = Machine::this()?;
    let stop = stop::on_signal()?;
    tokio::select! {
        () = etcd::keep_members(&machine) => {}
        () = stop.cancelled() => {}
    }
    Ok(())
}
