//! Listening on all addresses of a machine, those included that come and go.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Host;
use crate::guests::console::Console;

/// Between two attempts to listen on an address whose last holder has not let go yet.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs `serve` on each address that the machine has, for as long as it has it. Returns when the machine has retired.
pub(super) async fn everywhere<S, F>(host: &Host, name: &'static str, port: u16, serve: S)
where
    S: Fn(TcpListener, CancellationToken) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let mut addresses = host.addresses.subscribe();
    let mut running: BTreeMap<IpAddr, CancellationToken> = BTreeMap::new();
    let mut tasks = JoinSet::new();
    loop {
        let present = addresses.borrow_and_update().clone();
        running.retain(|address, stop| {
            let stays = present.contains(address);
            if !stays {
                stop.cancel();
            }
            stays
        });
        for address in present {
            if running.contains_key(&address) {
                continue;
            }
            let stop = host.retired.child_token();
            running.insert(address, stop.clone());
            let (console, serve) = (host.console.clone(), serve.clone());
            tasks.spawn(async move {
                let bound = stop.run_until_cancelled(bind(&console, name, SocketAddr::new(address, port))).await;
                if let Some(listener) = bound {
                    serve(listener, stop).await;
                }
            });
        }
        tokio::select! {
            () = host.retired.cancelled() => break,
            // The sender is in `host`, so waiting cannot fail.
            _ = addresses.changed() => {}
        }
    }
    while tasks.join_next().await.is_some() {}
}

async fn bind(console: &Console, name: &str, address: SocketAddr) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => {
                console.print(format!("{name}: listening on {address}"));
                return listener;
            }
            Err(error) => console.print(format!("{name}: cannot listen on {address}: {error}")),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
