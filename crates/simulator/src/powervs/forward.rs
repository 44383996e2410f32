//! The load balancers on the network: TCP forwarders on loopback addresses, which follow the simulation as it changes.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::cloud::Cloud;
use crate::core::World;

/// How long after a change, or after the last look, members are looked at again.
const LOOK: Duration = Duration::from_millis(200);
/// How long a member may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two attempts to listen on an address whose last holder has not let go yet.
const PAUSE: Duration = Duration::from_millis(50);

/// Forwards for as long as it is polled.
pub(super) async fn run(world: World<Cloud>) {
    let mut changes = world.revisions();
    let mut running: BTreeMap<SocketAddr, Front> = BTreeMap::new();
    loop {
        let frontends = world.view(|cloud, _| cloud.frontends());
        running.retain(|address, _| frontends.contains_key(address));
        for (address, backends) in &frontends {
            let front = running.entry(*address).or_insert_with(|| Front::open(*address));
            front.backends.send_if_modified(|known| {
                let is_news = known != backends;
                known.clone_from(backends);
                is_news
            });
        }
        look(&world, frontends.into_values().flatten().collect()).await;
        // Whatever changes, changes soon enough for clients that look once a second.
        let _ = tokio::time::timeout(LOOK, changes.changed()).await;
    }
}

/// A port of a load balancer. Dropping it closes it, connections included.
struct Front {
    backends: watch::Sender<Vec<SocketAddr>>,
    _task: JoinSet<()>,
}

impl Front {
    fn open(address: SocketAddr) -> Self {
        let (backends, seen) = watch::channel(Vec::new());
        let mut task = JoinSet::new();
        task.spawn(listen(address, seen));
        Self { backends, _task: task }
    }
}

async fn listen(address: SocketAddr, backends: watch::Receiver<Vec<SocketAddr>>) {
    let listener = loop {
        match TcpListener::bind(address).await {
            Ok(listener) => break listener,
            Err(error) => tracing::warn!(%address, %error, "a load balancer cannot listen"),
        }
        tokio::time::sleep(PAUSE).await;
    };
    let mut connections = JoinSet::new();
    let mut turn = 0_usize;
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let mut order = backends.borrow().clone();
        if !order.is_empty() {
            let length = order.len();
            order.rotate_left(turn % length);
        }
        turn = turn.wrapping_add(1);
        connections.spawn(forward(stream, order));
    }
}

/// Takes a connection to the first member that accepts it.
async fn forward(mut client: TcpStream, order: Vec<SocketAddr>) {
    for backend in order {
        if let Some(mut server) = connect(backend).await {
            // Either side may leave when it likes.
            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            return;
        }
    }
}

async fn connect(backend: SocketAddr) -> Option<TcpStream> {
    tokio::time::timeout(PATIENCE, TcpStream::connect(backend)).await.ok()?.ok()
}

/// Finds out who answers, and tells the simulation if that is news.
async fn look(world: &World<Cloud>, mut backends: Vec<SocketAddr>) {
    backends.sort_unstable();
    backends.dedup();
    let answers =
        backends.into_iter().map(|backend| async move { (backend.to_string(), connect(backend).await.is_some()) });
    let found: BTreeMap<String, bool> = futures::future::join_all(answers).await.into_iter().collect();
    let is_news = world.view(|cloud, _| cloud.state.answering != found);
    if is_news {
        world.with(|cloud, _| cloud.state.answering = found);
    }
}
