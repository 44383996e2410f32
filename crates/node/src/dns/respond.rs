//! Answers from the zone.

use std::net::IpAddr;

use hickory_proto::{
    op::{Edns, Message, OpCode, Query, ResponseCode},
    rr::{DNSClass, Name, RData, Record, RecordType, rdata},
};

use super::{Found, Zone};

/// Long enough to be worth keeping, short enough to follow an address that moves with its machine.
const TTL: u32 = 30;
/// What we take by UDP, whatever clients offer: fits into every packet on the way.
const PAYLOAD: u16 = 1232;

/// What becomes of a query.
pub(super) enum Response {
    /// It is answered from here.
    Here(Message),
    /// The site's servers are asked.
    Forward,
}

/// Answers a query from the zone.
pub(super) fn respond(zone: &Zone, query: &Message) -> Response {
    let [question] = query.queries.as_slice() else { return Response::Here(failure(query, ResponseCode::FormErr)) };
    if query.metadata.op_code != OpCode::Query {
        return Response::Here(failure(query, ResponseCode::NotImp));
    }
    if question.query_class() != DNSClass::IN {
        return Response::Forward;
    }
    let name = question.name();
    let text = name.to_ascii();
    let found = match reversed(name) {
        Some(address) => zone.find_address(address),
        None => zone.find(text.trim_end_matches('.')),
    };
    match found {
        // A name that we know and a type that it does not have is an empty answer: asking elsewhere, where the name is not
        // known, would bring a "no such name" that hides the addresses of the other family.
        Some(found) => Response::Here(answer(query, question, found)),
        None => Response::Forward,
    }
}

/// An answer with addresses that were found elsewhere.
pub(super) fn found_elsewhere(query: &Message, addresses: Vec<IpAddr>) -> Option<Message> {
    let question = query.queries.first()?;
    Some(answer(query, question, Found::Addresses(addresses)))
}

/// The name that a query is about, in lower case and without its last dot.
pub(super) fn asked_name(query: &Message) -> Option<String> {
    let name = query.queries.first()?.name().to_ascii();
    Some(name.trim_end_matches('.').to_lowercase())
}

/// An answer that says that something is wrong.
pub(super) fn failure(query: &Message, code: ResponseCode) -> Message {
    let mut message = response(query);
    message.metadata.response_code = code;
    message
}

fn answer(query: &Message, question: &Query, found: Found) -> Message {
    let mut message = response(query);
    message.metadata.authoritative = true;
    let (name, asked) = (question.name(), question.query_type());
    let record = |data| Record::from_rdata(name.clone(), TTL, data);
    match found {
        Found::Addresses(addresses) => {
            for address in addresses {
                let data = match address {
                    IpAddr::V4(address) => RData::A(address.into()),
                    IpAddr::V6(address) => RData::AAAA(address.into()),
                };
                if asked == data.record_type() || asked == RecordType::ANY {
                    message.add_answer(record(data));
                }
            }
        }
        Found::Name(target) => {
            if matches!(asked, RecordType::PTR | RecordType::ANY)
                && let Ok(target) = Name::from_ascii(format!("{target}."))
            {
                message.add_answer(record(RData::PTR(rdata::PTR(target))));
            }
        }
    }
    message
}

/// The beginning of an answer to a query.
fn response(query: &Message) -> Message {
    let mut message = Message::response(query.metadata.id, query.metadata.op_code);
    message.metadata.recursion_desired = query.metadata.recursion_desired;
    message.metadata.recursion_available = true;
    message.add_queries(query.queries.iter().cloned());
    if query.edns.is_some() {
        let mut edns = Edns::new();
        edns.set_max_payload(PAYLOAD);
        message.set_edns(edns);
    }
    message
}

/// The address whose reverse name this is.
fn reversed(name: &Name) -> Option<IpAddr> {
    let network = name.parse_arpa_name().ok()?;
    (network.prefix_len() == network.max_prefix_len()).then(|| network.addr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn ask(name: &str, kind: RecordType) -> Response {
        let zone = Zone::new(&testing::facts("worker"), &[]);
        let mut query = Message::query();
        query.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
        respond(&zone, &query)
    }

    #[test]
    fn the_other_family_gets_an_explicit_empty_answer() {
        let Response::Here(message) = ask("api.demo.example.com.", RecordType::AAAA) else { panic!("forwarded") };
        assert_eq!((message.metadata.response_code, message.answers.len()), (ResponseCode::NoError, 0));
        let Response::Here(message) = ask("api.demo.example.com.", RecordType::A) else { panic!("forwarded") };
        assert_eq!(message.answers.len(), 1);
    }

    #[test]
    fn what_is_not_of_the_cluster_is_forwarded() {
        for name in ["example.com.", "4.3.2.1.in-addr.arpa.", "2.1.in-addr.arpa.", "."] {
            assert!(matches!(ask(name, RecordType::A), Response::Forward), "{name}");
        }
    }
}
