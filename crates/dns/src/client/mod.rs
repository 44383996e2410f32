//! The DNS protocol: queries, signed updates and transfers, each to one server that the caller names.
//!
//! Queries go by UDP and again by TCP if the answer does not fit; updates and transfers go by TCP, where a reply is not lost
//! without a sign. Nothing is cached and nothing is followed.

mod answer;
mod key;
mod message;
mod transport;

pub(crate) use answer::Answer;
pub(crate) use key::{Clock, Key, SystemClock};
pub(crate) use message::{Question, Update, wire_type};

use std::net::SocketAddr;

use hickory_proto::{op::Message, rr::RecordType};

use crate::{Data, Error, Name};

/// Asks a server.
pub(crate) async fn query(server: SocketAddr, question: &Question<'_>, key: Option<&Key>) -> Result<Answer, Error> {
    let attempt = question.attempt();
    let exchange = transport::Exchange { server, attempt: &attempt, key };
    let reply = exchange.by_udp(|| question.message()).await?;
    Ok(Answer::new(&reply))
}

/// Changes a zone, if its prerequisites hold.
pub(crate) async fn update(server: SocketAddr, update: &Update<'_>, key: &Key) -> Result<&'static str, Error> {
    let attempt = format!("updating the zone {}", update.zone);
    let exchange = transport::Exchange { server, attempt: &attempt, key: Some(key) };
    let reply = exchange.by_tcp(update.message()).await?;
    Ok(answer::code(reply.metadata.response_code))
}

/// All records of a zone; none if the server does not hand them out.
pub(crate) async fn transfer(
    server: SocketAddr,
    zone: &Name,
    key: &Key,
) -> Result<Option<Vec<(Name, u32, Data)>>, Error> {
    let question = Question { name: zone, kind: RecordType::AXFR, recursion: false };
    let attempt = format!("the transfer of the zone {zone}");
    let exchange = transport::Exchange { server, attempt: &attempt, key: Some(key) };
    let messages: Option<Vec<Message>> = exchange.transfer(question.message()).await?;
    Ok(messages.map(|messages| messages.iter().flat_map(|message| answer::records(&message.answers)).collect()))
}
