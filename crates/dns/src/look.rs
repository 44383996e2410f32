//! Asking one server one question, for those who want to see for themselves.

use std::net::SocketAddr;

use crate::{
    Data, Name, Network, Servers, Type,
    client::{Question, query, wire_type},
};

/// What a name server said about a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// What its records of the type say; nothing if there are none.
    pub data: Vec<Data>,
    /// For how many seconds a resolver goes on saying so.
    pub ttl: Option<u32>,
}

/// Asks a resolver for the records of a type at a name, behind aliases if there are any. None if it does not answer.
pub async fn ask_resolver(resolver: SocketAddr, name: &Name, kind: Type) -> Option<Seen> {
    ask(resolver, name, kind, true).await
}

/// Asks the name servers of the zone that a name lies in, which a resolver knows, until one answers.
pub async fn ask_zone(network: &Network, name: &Name, kind: Type) -> Option<Seen> {
    let servers = Servers::enclosing(&name.parent()?, network).await?;
    for (_, server) in &servers.found {
        if let Some(seen) = ask(*server, name, kind, false).await {
            return Some(seen);
        }
    }
    None
}

async fn ask(server: SocketAddr, name: &Name, kind: Type, recursion: bool) -> Option<Seen> {
    let question = Question { name, kind: wire_type(kind), recursion };
    let answer = query(server, &question, None).await.ok().filter(crate::client::Answer::is_answer)?;
    let records = answer.records.iter().filter(|(_, _, data)| data.kind() == kind);
    let ttl = records.clone().map(|(_, ttl, _)| *ttl).min();
    let ttl = ttl.or_else(|| answer.soa.as_ref().map(|soa| soa.negative_ttl));
    Some(Seen { data: records.map(|(_, _, data)| data.clone()).collect(), ttl })
}
