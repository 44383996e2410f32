//! The resolver of this machine.

use std::net::{IpAddr, SocketAddr};

use hickory_proto::rr::RecordType;
use landfall_platform::Environment;

use crate::{
    Data, Error, Name,
    client::{Answer, Question, query},
};

const RESOLV_CONF: &str = "/etc/resolv.conf";
const DNS_PORT: u16 = 53;

/// How DNS is reached from this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The resolvers, in the order in which they are asked.
    pub resolvers: Vec<SocketAddr>,
    /// The port of name servers that are known by name only. Another one than 53 is for tests and laboratories.
    pub port: u16,
}

impl Network {
    /// As the environment says: `LANDFALL_DNS_RESOLVER` (an address, with a port or without), else `/etc/resolv.conf`;
    /// `LANDFALL_DNS_PORT` for the port of name servers.
    pub fn of(environment: &Environment) -> Self {
        let text = |name: &str| environment.get(name).and_then(|value| value.to_str()).map(str::to_owned);
        let port = text("LANDFALL_DNS_PORT").and_then(|port| port.parse().ok()).unwrap_or(DNS_PORT);
        let resolvers = match text("LANDFALL_DNS_RESOLVER") {
            Some(resolver) => resolver_address(&resolver).into_iter().collect(),
            None => name_servers(&std::fs::read_to_string(RESOLV_CONF).unwrap_or_default()),
        };
        Self { resolvers, port }
    }

    /// Asks the resolvers, one after the other, until one answers.
    pub(crate) async fn lookup(&self, name: &Name, kind: RecordType) -> Option<Answer> {
        for resolver in &self.resolvers {
            let question = Question { name, kind, recursion: true };
            if let Ok(answer) = query(*resolver, &question, None).await
                && answer.is_answer()
            {
                return Some(answer);
            }
        }
        None
    }

    /// The addresses of a name; none if nobody knows them.
    pub(crate) async fn addresses(&self, name: &Name) -> Vec<IpAddr> {
        let (four, six) = futures::join!(self.lookup(name, RecordType::A), self.lookup(name, RecordType::AAAA));
        four.iter().chain(&six).flat_map(Answer::data).filter_map(address).collect()
    }

    /// The address of a server of a service, as an install-config names it: `host` or `host:port`.
    pub(crate) async fn server(&self, text: &str) -> Result<SocketAddr, Error> {
        if let Some(address) = resolver_address_with(text, self.port) {
            return Ok(address);
        }
        let with_port = if text.contains(':') { text.to_owned() } else { format!("{text}:{}", self.port) };
        let unknown = |source| Error::UnknownServer { server: text.to_owned(), source };
        let mut found = tokio::net::lookup_host(&with_port).await.map_err(unknown)?;
        found.next().ok_or_else(|| unknown(std::io::ErrorKind::NotFound.into()))
    }
}

pub(crate) fn address(data: &Data) -> Option<IpAddr> {
    match data {
        Data::A(address) => Some((*address).into()),
        Data::Aaaa(address) => Some((*address).into()),
        _ => None,
    }
}

fn resolver_address(text: &str) -> Option<SocketAddr> {
    resolver_address_with(text, DNS_PORT)
}

fn resolver_address_with(text: &str, port: u16) -> Option<SocketAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse::<IpAddr>().ok().map(|address| SocketAddr::new(address, port));
    address.or_else(|| text.parse().ok())
}

/// The name servers of a `resolv.conf`. Addresses with a zone (`fe80::1%eth0`) are left out.
fn name_servers(text: &str) -> Vec<SocketAddr> {
    text.lines()
        .filter_map(|line| line.split_whitespace().collect::<Vec<_>>().try_into().ok())
        .filter(|[keyword, _]: &[&str; 2]| *keyword == "nameserver")
        .filter_map(|[_, address]| Some(SocketAddr::new(address.parse().ok()?, DNS_PORT)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolvers_are_read_from_their_file() {
        let text = "# made by hand\nsearch example.com\nnameserver 192.0.2.53\nnameserver  2001:db8::53\nnameserver fe80::1%eth0\noptions ndots:2\n";
        let found: Vec<String> = name_servers(text).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["192.0.2.53:53", "[2001:db8::53]:53"]);
    }

    #[test]
    fn the_environment_goes_before_the_file() {
        let environment =
            Environment::from_iter([("LANDFALL_DNS_RESOLVER", "127.0.0.1:5300"), ("LANDFALL_DNS_PORT", "5301")]);
        let network = Network::of(&environment);
        assert_eq!(network, Network { resolvers: vec!["127.0.0.1:5300".parse().unwrap()], port: 5301 });
    }
}
