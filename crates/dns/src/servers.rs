//! The name servers of a zone.

use std::net::SocketAddr;

use futures::future::join_all;
use hickory_proto::rr::RecordType;

use crate::{
    Name, Network, Zone,
    client::{Answer, Question, query},
    network::address,
};

/// The name servers of a zone, as far as they can be found from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers {
    /// The zone.
    pub zone: Name,
    /// Those with an address: a name may have several.
    pub found: Vec<(Name, SocketAddr)>,
    /// Those whose address nobody knows.
    pub lost: Vec<Name>,
}

impl Servers {
    /// The servers of a zone that a service has told. `primary` is asked for what the resolver does not know: name servers
    /// whose names lie in a zone that is not public.
    pub async fn of(zone: &Zone, primary: Option<SocketAddr>, network: &Network) -> Self {
        let addresses = join_all(zone.name_servers.iter().map(async |server| {
            let mut addresses = network.addresses(server).await;
            if let (true, Some(primary)) = (addresses.is_empty(), primary) {
                let question = Question { name: server, kind: RecordType::A, recursion: false };
                let answer = query(primary, &question, None).await.ok();
                addresses = answer.iter().flat_map(Answer::data).filter_map(address).collect();
            }
            (server.clone(), addresses)
        }))
        .await;
        let (mut found, mut lost) = (Vec::new(), Vec::new());
        for (server, addresses) in addresses {
            if addresses.is_empty() {
                lost.push(server.clone());
            }
            found.extend(addresses.into_iter().map(|address| (server.clone(), SocketAddr::new(address, network.port))));
        }
        Self { zone: zone.name.clone(), found, lost }
    }

    /// The servers of the zone that a name lies in, found through the resolver of this machine.
    pub async fn enclosing(name: &Name, network: &Network) -> Option<Self> {
        let mut candidate = Some(name.clone());
        while let Some(name) = candidate {
            let answer = network.lookup(&name, RecordType::NS).await?;
            let servers: Vec<Name> = apex_servers(&answer, &name);
            if !servers.is_empty() {
                let zone = Zone { name, name_servers: servers };
                return Some(Self::of(&zone, None, network).await);
            }
            candidate = name.parent();
        }
        None
    }
}

/// The servers of a zone in an answer to the question for them.
pub(crate) fn apex_servers(answer: &Answer, zone: &Name) -> Vec<Name> {
    let mut servers: Vec<Name> =
        answer.name_servers.iter().filter(|(owner, _)| owner == zone).map(|(_, server)| server.clone()).collect();
    servers.sort();
    servers.dedup();
    servers
}
