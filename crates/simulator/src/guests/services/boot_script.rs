//! `landfall-node boot-script`: the real server, with the script that the machine has on its disk.

use bytes::Bytes;
use landfall_node::boot_script::serve;

use super::{Host, listen};

/// Serves the script that the machine's facts name, until it retires.
pub(super) async fn run(host: Host) {
    let (port, script) = host.persist("landfall-node boot-script", async || prepare(&host)).await;
    listen::everywhere(&host, "landfall-node boot-script", port, move |listener, stop| {
        serve(listener, script.clone(), stop)
    })
    .await;
}

fn prepare(host: &Host) -> Result<(u16, Bytes), String> {
    let served = host.facts()?.boot_script.ok_or("node.json names no script")?;
    let script = host.system.file(&served.file).ok_or_else(|| format!("there is no {}", served.file))?;
    Ok((served.port, script.into()))
}
