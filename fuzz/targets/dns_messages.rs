//! Packets for the name server of a machine: no panic, and every answer can be written, read again, and is about what was asked.

#![no_main]

use std::sync::LazyLock;

use dns::{Zone, answers};
use hickory_proto::op::Message;
use libfuzzer_sys::fuzz_target;

// The name server alone, without sockets and the API around it, which would have to be built with instruments too.
#[allow(dead_code, unused_imports, unreachable_pub)]
#[path = "../../crates/node/src/dns"]
mod dns {
    mod respond;
    mod zone;

    use hickory_proto::op::{Message, ResponseCode};
    use respond::{Response, asked_name, failure, found_elsewhere, respond};
    pub use zone::{Found, Zone};

    /// Everything that the server may answer to a query.
    pub fn answers(zone: &Zone, query: &Message) -> Vec<Message> {
        let _ = asked_name(query);
        let mut answers = vec![failure(query, ResponseCode::ServFail)];
        answers.extend(found_elsewhere(query, vec!["192.0.2.1".parse().expect("it is an address")]));
        if let Response::Here(answer) = respond(zone, query) {
            answers.push(answer);
        }
        answers
    }
}

/// What the zone needs to know of nodes.
mod kube {
    pub struct ClusterNode {
        pub name: String,
        pub addresses: Vec<std::net::IpAddr>,
    }
}

static ZONE: LazyLock<Zone> = LazyLock::new(|| {
    let facts = serde_json::from_str(include_str!("../seeds/facts.json")).expect("the facts are good");
    let node = |name: &str, address: &str| kube::ClusterNode {
        name: name.to_owned(),
        addresses: vec![address.parse().expect("it is an address")],
    };
    Zone::new(&facts, &[node("demo-x7k2p-w0", "198.51.100.31"), node("demo-x7k2p-w1", "2001:db8::31")])
});

fuzz_target!(|packet: &[u8]| {
    let Ok(query) = Message::from_vec(packet) else { return };
    for answer in answers(&ZONE, &query) {
        let Ok(written) = answer.to_vec() else { continue };
        let read = Message::from_vec(&written).expect("what was written can be read");
        assert_eq!((read.metadata.id, &read.queries), (query.metadata.id, &query.queries));
    }
});
