//! What a name server answered.

use hickory_proto::{
    op::{Message, ResponseCode},
    rr::{Name as WireName, RData, Record},
};

use crate::{Data, Name, Service};

/// What a name server answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The response code, as RFCs spell it: `NOERROR`, `NXDOMAIN`, …
    pub(crate) code: &'static str,
    /// Whether the server speaks for the zone and not from a cache.
    pub(crate) authoritative: bool,
    /// The records of the answer that are of types known here.
    pub(crate) records: Vec<(Name, u32, Data)>,
    /// Name servers in the answer or, for a referral, beside it: the zone and the server.
    pub(crate) name_servers: Vec<(Name, Name)>,
    /// The zone, as its start of authority says.
    pub(crate) soa: Option<Soa>,
}

/// The start of authority of a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Soa {
    pub(crate) zone: Name,
    pub(crate) serial: u32,
    /// For how long resolvers remember that a name does not exist: in an answer that says so, what is left of it.
    pub(crate) negative_ttl: u32,
}

impl Answer {
    pub(super) fn new(message: &Message) -> Self {
        let everything = || message.answers.iter().chain(&message.authorities);
        let name_servers = everything().filter_map(|record| match &record.data {
            RData::NS(server) => Some((name(&record.name)?, name(&server.0)?)),
            _ => None,
        });
        let soa = everything().find_map(|record| match &record.data {
            RData::SOA(soa) => {
                Some(Soa { zone: name(&record.name)?, serial: soa.serial, negative_ttl: record.ttl.min(soa.minimum) })
            }
            _ => None,
        });
        Self {
            code: code(message.metadata.response_code),
            authoritative: message.metadata.authoritative,
            records: records(&message.answers).collect(),
            name_servers: name_servers.collect(),
            soa,
        }
    }

    /// Whether the server answered the question, be it with nothing.
    pub(crate) fn is_answer(&self) -> bool {
        ["NOERROR", "NXDOMAIN"].contains(&self.code)
    }

    /// What the records at the end of a chain of aliases say, and the name they stand at.
    pub(crate) fn data(&self) -> impl Iterator<Item = &Data> {
        self.records.iter().map(|(_, _, data)| data)
    }
}

/// Records of types known here. Texts of several strings are one text; texts that are not UTF-8 cannot be ours and are
/// read with replacement characters.
pub(super) fn records(records: &[Record]) -> impl Iterator<Item = (Name, u32, Data)> + '_ {
    records.iter().filter_map(|record| {
        let data = match &record.data {
            RData::A(address) => Data::A(address.0),
            RData::AAAA(address) => Data::Aaaa(address.0),
            RData::CNAME(target) => Data::Cname(name(&target.0)?),
            RData::PTR(target) => Data::Ptr(name(&target.0)?),
            RData::SRV(service) => Data::Srv(Service {
                priority: service.priority,
                weight: service.weight,
                port: service.port,
                host: name(&service.target)?,
            }),
            RData::TXT(text) => Data::Txt(String::from_utf8_lossy(&text.txt_data.concat()).into_owned()),
            _ => return None,
        };
        Some((name(&record.name)?, record.ttl, data))
    })
}

/// Names with characters that no name of ours has are nobody's whom we look for.
fn name(name: &WireName) -> Option<Name> {
    name.to_ascii().parse().ok()
}

pub(super) fn code(code: ResponseCode) -> &'static str {
    match code {
        ResponseCode::NoError => "NOERROR",
        ResponseCode::FormErr => "FORMERR",
        ResponseCode::ServFail => "SERVFAIL",
        ResponseCode::NXDomain => "NXDOMAIN",
        ResponseCode::NotImp => "NOTIMP",
        ResponseCode::Refused => "REFUSED",
        ResponseCode::YXDomain => "YXDOMAIN",
        ResponseCode::YXRRSet => "YXRRSET",
        ResponseCode::NXRRSet => "NXRRSET",
        ResponseCode::NotAuth => "NOTAUTH",
        ResponseCode::NotZone => "NOTZONE",
        _ => "a code that is not known here",
    }
}
