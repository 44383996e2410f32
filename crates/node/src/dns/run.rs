//! Running the server and keeping the resolver handed over.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use hickory_proto::{
    op::{Message, Query, ResponseCode},
    rr::{Name, RecordType},
};
use landfall_assets::MachineRole;
use landfall_platform::error_chain;
use tokio::{
    net::{TcpListener, UdpSocket},
    sync::watch,
};
use tokio_util::sync::CancellationToken;

use super::{Forwarder, Handover, Neighbours, Places, Zone, mdns, serve, upstreams};
use crate::{
    Error,
    kube::{ClusterNode, follow},
    machine::Machine,
};

const INTERVAL: Duration = Duration::from_secs(10);
/// How soon a change of the site's servers is noticed.
const LOOK: Duration = Duration::from_secs(5);
const PORT: u16 = 53;

/// Serves names until `stop`. `multicast` also asks the machines of the segment, and answers them.
pub async fn run(machine: &Machine, multicast: bool, stop: CancellationToken) -> Result<(), Error> {
    let own = machine.addresses().await?.addresses;
    let address = SocketAddr::new(own[0], PORT);
    let handover = Handover::new(Places::of_host(&machine.state), own[0], machine.facts.cluster.domain.as_str());
    let forwarder = Arc::new(Forwarder::new(upstreams(&handover.site(), &own)));
    let mut known = follow(machine, INTERVAL);
    let (zones, zone) = watch::channel(Arc::new(zone(machine, &known.borrow().nodes, &own)));
    let (udp, tcp) = bind(address).await?;
    tracing::info!(%address, "serving names");
    let neighbours = Neighbours(own.iter().filter(|_| multicast).find_map(|address| match address {
        IpAddr::V4(address) => Some(*address),
        IpAddr::V6(_) => None,
    }));
    let server = tokio::spawn(serve(udp, tcp, zone, Arc::clone(&forwarder), neighbours, stop.clone()));
    if let Some(address) = neighbours.0 {
        let (name, stop) = (machine.name.clone(), stop.clone());
        tokio::spawn(stop.run_until_cancelled_owned(async move {
            if let Err(error) = mdns::respond_for(&name, address).await {
                tracing::warn!(%error, "this machine does not answer multicast queries");
            }
        }));
    }
    // waits: a service, which ends when it is stopped
    while !stop.is_cancelled() {
        zones.send_replace(Arc::new(self::zone(machine, &known.borrow_and_update().nodes, &own)));
        forwarder.set(upstreams(&handover.site(), &own));
        if let Err(error) = hand_over(&handover, address, &machine.facts.api.internal_name).await {
            tracing::warn!(error = error_chain(&error), "the host's resolver keeps its own settings");
        }
        tokio::select! {
            () = stop.cancelled() => {}
            _ = known.changed() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
    }
    // Given back before the last answer: no query falls into a gap.
    handover.give_back().await?;
    // It has been told to stop, and cannot fail.
    let _ = server.await;
    Ok(())
}

/// The zone, with this machine in it before the cluster knows it.
fn zone(machine: &Machine, nodes: &[ClusterNode], own: &[IpAddr]) -> Zone {
    let mut nodes = nodes.to_vec();
    if nodes.iter().all(|node| node.name != machine.name) {
        nodes.push(ClusterNode {
            name: machine.name.clone(),
            role: MachineRole::Worker,
            addresses: own.to_vec(),
            pod_networks: Vec::new(),
        });
    }
    Zone::new(&machine.facts, &nodes)
}

async fn bind(address: SocketAddr) -> Result<(UdpSocket, TcpListener), Error> {
    let failed = |source| Error::Network { action: format!("listen on {address}"), source };
    Ok((UdpSocket::bind(address).await.map_err(failed)?, TcpListener::bind(address).await.map_err(failed)?))
}

/// Hands over the host's resolver once the server answers, and takes it back when it does not.
async fn hand_over(handover: &Handover, server: SocketAddr, name: &str) -> Result<(), Error> {
    match self_test(server, name).await {
        Ok(()) => handover.ensure().await,
        Err(error) => {
            handover.give_back().await?;
            Err(error)
        }
    }
}

/// Whether the server answers as the machine's own programs would ask it.
pub async fn self_test(server: SocketAddr, name: &str) -> Result<(), Error> {
    let mut query = Message::query();
    let name = Name::from_ascii(format!("{name}.")).map_err(|error| Error::NotYet(error.to_string()))?;
    query.add_query(Query::query(name.clone(), RecordType::A));
    let query = query.to_vec().map_err(|error| Error::NotYet(error.to_string()))?;
    let answer = Forwarder::new(vec![server]).ask(&query, false).await;
    let answer = answer.and_then(|answer| Message::from_vec(&answer).ok());
    match answer {
        Some(answer) if answer.metadata.response_code == ResponseCode::NoError => Ok(()),
        _ => Err(Error::NotYet(format!("the name server on {server} does not answer for {name}"))),
    }
}
