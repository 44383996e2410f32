//! Multicast DNS (RFC 6762), as far as machines need it to find each other before there is an API: each answers for its own
//! name, and its name server asks the others for names that it does not know.
//!
//! Off unless it is asked for. Anybody on the segment can answer a multicast query, so only names that begin with the cluster's
//! infra id are asked for, and what the API says always comes first. IPv4 only, like the segments that need it.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4},
    time::Duration,
};

use hickory_proto::{
    op::{Message, MessageType, OpCode, Query},
    rr::{Name, RData, Record, RecordType},
};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::{
    net::UdpSocket,
    time::{Instant, timeout_at},
};

const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);
const PORT: u16 = 5353;
/// Machines of a segment answer within milliseconds; one that is not there never does.
const PATIENCE: Duration = Duration::from_millis(300);
/// As long as the answers of the name server.
const TTL: u32 = 30;

/// Answers for a machine's own name for as long as the future is polled.
pub async fn respond_for(name: &str, address: Ipv4Addr) -> io::Result<()> {
    let socket = group_socket(address)?;
    let own = local_name(name)?;
    let mut buffer = vec![0; 9000];
    loop {
        let (length, peer) = socket.recv_from(&mut buffer).await?;
        let Ok(query) = Message::from_vec(&buffer[..length]) else { continue };
        if let Some(answer) = answer(&query, &own, address) {
            // One that asks from another port is no full member of the group, and is answered by itself.
            let to = if peer.port() == PORT { SocketAddr::from((GROUP, PORT)) } else { peer };
            if let Ok(bytes) = answer.to_vec() {
                // One that cannot be reached asks again.
                let _ = socket.send_to(&bytes, to).await;
            }
        }
    }
}

/// The address of a machine on the segment of `own`, if it answers.
pub async fn find(name: &str, own: Ipv4Addr) -> Option<IpAddr> {
    let wanted = local_name(name).ok()?;
    let mut query = Message::query();
    query.add_query(Query::query(wanted.clone(), RecordType::A));
    let socket = UdpSocket::bind(SocketAddrV4::new(own, 0)).await.ok()?;
    socket2::SockRef::from(&socket).set_multicast_if_v4(&own).ok()?;
    socket.send_to(&query.to_vec().ok()?, (GROUP, PORT)).await.ok()?;
    let deadline = Instant::now() + PATIENCE;
    let mut buffer = vec![0; 9000];
    loop {
        let (length, _) = timeout_at(deadline, socket.recv_from(&mut buffer)).await.ok()?.ok()?;
        let Ok(answer) = Message::from_vec(&buffer[..length]) else { continue };
        if answer.metadata.id != query.metadata.id {
            continue;
        }
        let found = answer.answers.iter().find_map(|record| match record.data {
            RData::A(address) if record.name == wanted => Some(IpAddr::V4(address.0)),
            _ => None,
        });
        if found.is_some() {
            return found;
        }
    }
}

fn answer(query: &Message, own: &Name, address: Ipv4Addr) -> Option<Message> {
    let asked =
        |question: &&Query| question.name() == own && matches!(question.query_type(), RecordType::A | RecordType::ANY);
    let question = query.queries.iter().find(asked).filter(|_| query.metadata.message_type == MessageType::Query)?;
    let mut answer = Message::response(query.metadata.id, OpCode::Query);
    answer.metadata.authoritative = true;
    answer.add_query(question.clone());
    answer.add_answer(Record::from_rdata(own.clone(), TTL, RData::A(address.into())));
    Some(answer)
}

fn local_name(name: &str) -> io::Result<Name> {
    Name::from_ascii(format!("{}.local.", name.to_lowercase())).map_err(io::Error::other)
}

/// A socket in the group, beside those of other programs of the machine.
fn group_socket(own: Ipv4Addr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT).into())?;
    socket.join_multicast_v4(&GROUP, &own)?;
    socket.set_multicast_if_v4(&own)?;
    // Receivers drop what may have crossed a router.
    socket.set_multicast_ttl_v4(255)?;
    UdpSocket::from_std(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_answers_for_itself_alone() {
        let address = Ipv4Addr::new(198, 51, 100, 31);
        let own = local_name("demo-x7k2p-w0").unwrap();
        let ask = |name: &str, kind| {
            let mut query = Message::query();
            query.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
            answer(&query, &own, address).map(|answer| answer.answers.len())
        };
        assert_eq!(ask("DEMO-x7k2p-w0.local.", RecordType::A), Some(1));
        assert_eq!(ask("demo-x7k2p-w1.local.", RecordType::A), None);
        assert_eq!(ask("demo-x7k2p-w0.local.", RecordType::TXT), None);
        let mut told = Message::response(1, OpCode::Query);
        told.add_query(Query::query(own.clone(), RecordType::A));
        assert_eq!(answer(&told, &own, address), None, "an answer is not answered");
    }
}
