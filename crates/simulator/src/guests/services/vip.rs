//! `landfall-node vip`: holds the virtual addresses of the API, if no other machine does.

use std::net::IpAddr;

use futures::future::join_all;

use super::Host;

/// Takes each address of the API when its turn comes, and gives it up when the machine retires or dies.
pub(super) async fn run(host: Host) {
    let (facts, vips) = host
        .persist("landfall-node vip", async || {
            let facts = host.facts()?;
            let vips = facts.vips.clone().ok_or("node.json names no virtual addresses")?;
            Ok((facts, vips))
        })
        .await;
    // keepalived keeps the addresses away from machines that have no API server to offer; only the bootstrap machine takes
    // them before there is any.
    if facts.bootstrap.is_none() {
        host.until(|progress| progress.serving).await;
    }
    join_all(vips.api.into_iter().map(|address| hold(&host, address))).await;
}

async fn hold(host: &Host, address: IpAddr) {
    let right = host.clusters.address(address);
    let Some(_held) = host.retired.run_until_cancelled(right.lock()).await else { return };
    host.console.print(format!("landfall-node vip: holding {address}"));
    let _given_up = GiveUp { host, address };
    host.addresses.send_modify(|addresses| {
        addresses.insert(address);
    });
    host.retired.cancelled().await;
    host.console.print(format!("landfall-node vip: giving up {address}"));
}

struct GiveUp<'a> {
    host: &'a Host,
    address: IpAddr,
}

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        self.host.addresses.send_modify(|addresses| {
            addresses.remove(&self.address);
        });
    }
}
