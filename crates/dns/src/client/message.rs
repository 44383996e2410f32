//! What is sent to a name server. Pure.

use hickory_proto::{
    op::{Edns, Message, MessageType, OpCode, Query},
    rr::{
        DNSClass, Name as WireName, RData, Record, RecordType,
        rdata::{A, AAAA, CNAME, PTR, SRV, TXT},
    },
};

use crate::{Change, Data, Guard, Name, RecordSet, Service, Type};

/// What fits into one packet almost everywhere (the recommendation of the DNS flag day of 2020).
const PAYLOAD: u16 = 1232;

/// A question.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) name: &'a Name,
    pub(crate) kind: RecordType,
    /// Whether the server is to ask others: for resolvers.
    pub(crate) recursion: bool,
}

impl Question<'_> {
    pub(crate) fn attempt(&self) -> String {
        format!("asking for {} {}", self.name, self.kind)
    }

    /// The message, with a new id each time.
    pub(super) fn message(&self) -> Message {
        let mut message = Message::new(rand::random(), MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = self.recursion;
        message.add_query(Query::query(wire_name(self.name), self.kind));
        if self.kind != RecordType::AXFR {
            message.edns.get_or_insert_with(Edns::new).set_max_payload(PAYLOAD);
        }
        message
    }
}

/// A change of a zone.
pub(crate) struct Update<'a> {
    pub(crate) zone: &'a Name,
    pub(crate) change: &'a Change,
}

impl Update<'_> {
    /// RFC 2136: the zone stands in the place of the question, prerequisites in that of answers, changes in that of
    /// authorities.
    pub(super) fn message(&self) -> Message {
        let mut message = Message::new(rand::random(), MessageType::Query, OpCode::Update);
        message.add_query(Query::query(wire_name(self.zone), RecordType::SOA));
        match &self.change.guard {
            Guard::Free => {
                for (name, kind) in self.must_not_exist() {
                    message.add_answer(bare(name, kind, DNSClass::NONE));
                }
            }
            Guard::Unchanged(set) => message.answers.extend(records(set, 0)),
        }
        for set in &self.change.delete {
            message.add_authority(bare(&set.name, set.kind, DNSClass::ANY));
        }
        for set in &self.change.add {
            message.authorities.extend(records(set, set.ttl));
        }
        message
    }

    /// What is to be added, and what cannot stand beside it.
    fn must_not_exist(&self) -> Vec<(&Name, Type)> {
        let mut all: Vec<(&Name, Type)> = Vec::new();
        for set in &self.change.add {
            let clashes: &[Type] = match set.kind {
                Type::Cname => &Type::ALL,
                kind => &[kind, Type::Cname],
            };
            for kind in clashes {
                if !all.contains(&(&set.name, *kind)) {
                    all.push((&set.name, *kind));
                }
            }
        }
        all
    }
}

/// A record without data, for prerequisites and deletions.
fn bare(name: &Name, kind: Type, class: DNSClass) -> Record {
    let mut record = Record::update0(wire_name(name), 0, wire_type(kind));
    record.dns_class = class;
    record
}

fn records(set: &RecordSet, ttl: u32) -> impl Iterator<Item = Record> + '_ {
    set.data.iter().map(move |data| Record::from_rdata(wire_name(&set.name), ttl, wire_data(data)))
}

fn wire_data(data: &Data) -> RData {
    match data {
        Data::A(address) => RData::A(A(*address)),
        Data::Aaaa(address) => RData::AAAA(AAAA(*address)),
        Data::Cname(name) => RData::CNAME(CNAME(wire_name(name))),
        Data::Ptr(name) => RData::PTR(PTR(wire_name(name))),
        Data::Srv(Service { priority, weight, port, host }) => {
            RData::SRV(SRV::new(*priority, *weight, *port, wire_name(host)))
        }
        Data::Txt(text) => RData::TXT(TXT::from_bytes(text.as_bytes().chunks(255).collect())),
    }
}

pub(crate) fn wire_type(kind: Type) -> RecordType {
    match kind {
        Type::A => RecordType::A,
        Type::Aaaa => RecordType::AAAA,
        Type::Cname => RecordType::CNAME,
        Type::Ptr => RecordType::PTR,
        Type::Srv => RecordType::SRV,
        Type::Txt => RecordType::TXT,
    }
}

pub(super) fn wire_name(name: &Name) -> WireName {
    WireName::from_ascii(name.absolute()).expect("a name is well formed and short enough")
}
