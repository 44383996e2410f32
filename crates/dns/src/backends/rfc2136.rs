//! A name server that takes dynamic updates (RFC 2136), signed with TSIG.
//!
//! Guard and change are one message, which the server carries out as a whole or not at all. Reads are signed, too: what they
//! say decides what is removed.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::future::try_join_all;
use hickory_proto::rr::RecordType;
use landfall_config::Rfc2136;
use secrecy::{ExposeSecret as _, SecretSlice};

use crate::{
    Backend, Change, Error, Name, Network, RecordSet, Type, Zone,
    client::{Answer, Clock, Key, Question, SystemClock, Update, query, transfer, update, wire_type},
    secret_file::SecretFile,
    servers::apex_servers,
};

/// What the file of the section holds.
pub(crate) const TSIG_SECRET: &str = "TSIG secret";

/// A name server that takes dynamic updates.
pub(crate) struct NameServer {
    server: String,
    /// The zone of the cluster first, then reverse zones.
    zones: Vec<Name>,
    key: Key,
    network: Network,
}

impl NameServer {
    pub(crate) fn new(section: &Rfc2136, network: &Network) -> Result<Self, Error> {
        Self::with_clock(section, network, Arc::new(SystemClock))
    }

    fn with_clock(section: &Rfc2136, network: &Network, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let path = Path::new(&section.key_file);
        let file = SecretFile::read(path, TSIG_SECRET)?;
        let secret = STANDARD.decode(file.secret.expose_secret()).map_err(|_| Error::BadSecret {
            path: path.to_owned(),
            what: TSIG_SECRET,
            reason: "it is not base64",
        })?;
        let secret: SecretSlice<u8> = secret.into();
        let zone = section.zone.iter().chain(&section.reverse_zones);
        Ok(Self {
            server: section.server.clone(),
            zones: zone.map(|zone| zone.parse()).collect::<Result<_, _>>()?,
            key: Key::new(section.key_name.parse()?, section.key_algorithm, &secret, clock),
            network: network.clone(),
        })
    }

    /// The zone that a name lies in: the longest, if zones lie in each other.
    fn zone_of(&self, name: &Name) -> Result<&Name, Error> {
        let candidates = self.zones.iter().filter(|zone| name.is_in(zone));
        candidates
            .max_by_key(|zone| zone.as_str().len())
            .ok_or_else(|| Error::NoZone { zone: name.to_string(), service: self.describe() })
    }

    async fn ask(&self, name: &Name, kind: RecordType) -> Result<Answer, Error> {
        let server = self.network.server(&self.server).await?;
        let question = Question { name, kind, recursion: false };
        let answer = query(server, &question, Some(&self.key)).await?;
        if !answer.is_answer() {
            return Err(Error::Refused { attempt: question.attempt(), server: self.server.clone(), code: answer.code });
        }
        Ok(answer)
    }

    async fn set(&self, name: &Name, kind: Type) -> Result<Vec<RecordSet>, Error> {
        let answer = self.ask(name, wire_type(kind)).await?;
        let records = answer.records.into_iter().filter(|(at, _, data)| at == name && data.kind() == kind);
        Ok(RecordSet::gather(records))
    }
}

#[async_trait]
impl Backend for NameServer {
    fn describe(&self) -> String {
        format!("name server {}", self.server)
    }

    fn reads_exactly(&self) -> bool {
        false
    }

    async fn zone(&self) -> Result<Zone, Error> {
        let zone = self.zones.first().ok_or_else(|| Error::NoZone { zone: String::new(), service: self.describe() })?;
        let (start, servers) = futures::try_join!(self.ask(zone, RecordType::SOA), self.ask(zone, RecordType::NS))?;
        if !start.authoritative || start.soa.is_none_or(|soa| soa.zone != *zone) {
            return Err(Error::NoZone { zone: zone.to_string(), service: self.describe() });
        }
        Ok(Zone { name: zone.clone(), name_servers: apex_servers(&servers, zone) })
    }

    async fn read(&self, names: &[&Name]) -> Result<Vec<RecordSet>, Error> {
        let questions = names.iter().flat_map(|name| Type::ALL.map(|kind| self.set(name, kind)));
        Ok(try_join_all(questions).await?.concat())
    }

    async fn change(&self, change: &Change) -> Result<(), Error> {
        let Some(first) = change.add.first().or(change.delete.first()) else { return Ok(()) };
        let zone = self.zone_of(&first.name)?;
        let server = self.network.server(&self.server).await?;
        match update(server, &Update { zone, change }, &self.key).await? {
            "NOERROR" => Ok(()),
            // The prerequisites do not hold (RFC 2136, section 3.2).
            code @ ("YXDOMAIN" | "YXRRSET" | "NXDOMAIN" | "NXRRSET") => {
                Err(Error::Guard { name: first.name.clone(), service: self.describe(), answer: code.to_owned() })
            }
            code => {
                let attempt = format!("updating the zone {zone}");
                Err(Error::Refused { attempt, server: self.server.clone(), code })
            }
        }
    }

    async fn list(&self) -> Result<Option<Vec<RecordSet>>, Error> {
        let server = self.network.server(&self.server).await?;
        let mut sets = Vec::new();
        for zone in &self.zones {
            let Some(records) = transfer(server, zone, &self.key).await? else { return Ok(None) };
            sets.extend(RecordSet::gather(records));
        }
        Ok(Some(sets))
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use landfall_testkit::{
        named::{KEY_NAME, Named, NamedZone},
        ports::free_port,
    };

    use super::*;
    use crate::{Data, Guard};

    /// A clock that goes wrong by some seconds.
    struct Skewed(i64);

    impl Clock for Skewed {
        fn seconds(&self) -> u64 {
            SystemClock.seconds().saturating_add_signed(self.0)
        }
    }

    #[tokio::test]
    async fn clocks_that_are_apart_are_told_by_how_much() {
        let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), free_port());
        let zone = "lab.example.test";
        let server = Named::authoritative(address, &[NamedZone::new(zone, Ipv4Addr::LOCALHOST, "")], "");
        let section = Rfc2136 {
            server: address.to_string(),
            zone: Some(zone.to_owned()),
            key_name: KEY_NAME.to_owned(),
            key_algorithm: landfall_config::TsigAlgorithm::HmacSha256,
            key_file: server.key_file().to_string_lossy().into_owned(),
            reverse_zones: Vec::new(),
            nodes: false,
            ttl: None,
        };
        let network = Network { resolvers: Vec::new(), port: address.port() };
        let set = RecordSet::one("a.lab.example.test".parse().unwrap(), 60, Data::Txt("text".to_owned()));
        let change = Change { guard: Guard::Free, delete: Vec::new(), add: vec![set] };
        for (skew, text) in [(3600, "behind the clock here (BADTIME)"), (-3600, "ahead of the clock here (BADTIME)")] {
            let backend = NameServer::with_clock(&section, &network, Arc::new(Skewed(skew))).unwrap();
            let error = backend.change(&change).await.unwrap_err().to_string();
            assert!(error.contains(text) && error.contains(" s "), "{error}");
        }
        let backend = NameServer::with_clock(&section, &network, Arc::new(Skewed(200))).unwrap();
        backend.change(&change).await.unwrap();
        assert_eq!(server.dig(&["+short", "a.lab.example.test", "TXT"]), "\"text\"\n");
    }
}
