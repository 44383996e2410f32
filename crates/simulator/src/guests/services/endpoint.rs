//! `hold-endpoint` and `announce-endpoint`: a machine takes what comes to an address that the platform leads to it.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::Host;
use crate::core::guest::GuestEvent;
use crate::guests::console::chain;

/// Has the addresses of endpoints on its loopback interface, so that what the platform leads here is taken.
pub(super) async fn hold(host: Host, names: Vec<String>) {
    let holding = names.into_iter().map(|name| {
        let host = host.clone();
        async move {
            let held = held(&host, "hold-endpoint", &name).await;
            take(&host, &held).await;
        }
    });
    futures::future::join_all(holding).await;
}

/// As [`hold`], and has the platform's routers lead the address here, for as long as there is something to offer.
pub(super) async fn announce(host: Host, name: String) {
    let held = held(&host, "announce-endpoint", &name).await;
    let control_plane = host.facts().is_ok_and(|facts| facts.role != "worker");
    let announcing = async {
        if control_plane {
            host.until(|progress| progress.serving).await;
        }
        report(&host, held.clone());
        host.retired.cancelled().await;
        report(&host, BTreeSet::new());
    };
    tokio::join!(take(&host, &held), announcing);
}

fn report(host: &Host, addresses: BTreeSet<IpAddr>) {
    host.agent.shared.report(GuestEvent::Announces { id: host.id.clone(), addresses });
}

async fn held(host: &Host, program: &str, name: &str) -> BTreeSet<IpAddr> {
    let look = async || host.link.addresses(name).await.map_err(|error| chain(&error));
    let held: BTreeSet<IpAddr> = host.persist(program, look).await.into_iter().collect();
    host.console.print(format!("{program}: {name} is {held:?}"));
    held
}

/// Listens on what is both led here and held here.
async fn take(host: &Host, held: &BTreeSet<IpAddr>) {
    let mut routes = host.routes.clone();
    loop {
        let led = routes.borrow_and_update().clone();
        let taken: BTreeSet<IpAddr> = led.intersection(held).copied().collect();
        host.addresses.send_modify(|addresses| {
            addresses.retain(|address| !held.contains(address) || taken.contains(address));
            addresses.extend(taken);
        });
        if routes.changed().await.is_err() {
            return;
        }
    }
}
