//! Asking for the addresses of a name.

use std::net::{IpAddr, SocketAddr};

use hickory_proto::{
    op::{Message, MessageType, OpCode, Query},
    rr::{Name, RData, RecordType},
};

use super::Forwarder;

/// A family of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    Four,
    /// IPv6.
    Six,
}

/// The addresses of a name, as a name server knows them. None if it does not answer or knows none.
pub async fn lookup(server: SocketAddr, name: &str, family: Family) -> Vec<IpAddr> {
    let Some(query) = query(name, family) else { return Vec::new() };
    let forwarder = Forwarder::new(vec![server]);
    let Some(answer) = forwarder.ask(&query, false).await else { return Vec::new() };
    let answers = Message::from_vec(&answer).map(|message| message.answers).unwrap_or_default();
    answers
        .iter()
        .filter_map(|record| match &record.data {
            RData::A(address) => Some(address.0.into()),
            RData::AAAA(address) => Some(address.0.into()),
            _ => None,
        })
        .collect()
}

fn query(name: &str, family: Family) -> Option<Vec<u8>> {
    let mut name = Name::from_ascii(name).ok()?;
    name.set_fqdn(true);
    let mut message = Message::new(0, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    let kind = match family {
        Family::Four => RecordType::A,
        Family::Six => RecordType::AAAA,
    };
    message.add_query(Query::query(name, kind));
    message.to_vec().ok()
}
