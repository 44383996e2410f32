//! Whether the world finds the zone: its name servers answer and agree, and the zone above leads to them.

use std::{collections::BTreeSet, net::SocketAddr};

use futures::future::join_all;
use hickory_proto::rr::RecordType;
use landfall_platform::Finding;

use crate::{
    Name, Network, Servers, Zone,
    client::{Question, query},
    servers::apex_servers,
};

const SERVERS: &str = "DNS name servers";
const DELEGATION: &str = "DNS delegation";

pub(super) async fn check(zone: &Zone, servers: &Servers, network: &Network) -> Vec<Finding> {
    let (servers, delegation) = futures::join!(answers(servers), delegation(zone, network));
    [servers, vec![delegation]].concat()
}

/// Whether all servers speak for the zone, with one voice.
async fn answers(servers: &Servers) -> Vec<Finding> {
    let serials = join_all(servers.found.iter().map(|(name, address)| serial(servers, name, *address))).await;
    let mut findings = Vec::new();
    let mut known = BTreeSet::new();
    let mut good = 0;
    for serial in serials {
        match serial {
            Ok(serial) => {
                good += 1;
                known.insert(serial);
            }
            Err(message) => findings.push(message),
        }
    }
    findings.extend(servers.lost.iter().map(|name| format!("the address of {name} is not known here")));
    let hint = "resolvers that ask it get no answer, or an old one";
    let mut findings: Vec<Finding> =
        findings.into_iter().map(|message| Finding::notice(SERVERS, message, hint)).collect();
    match (good, known.len()) {
        (0, _) => findings.push(Finding::notice(
            SERVERS,
            format!("no name server of {} can be asked from here", servers.zone),
            "that the records are visible cannot be verified; does a firewall keep DNS from this machine?",
        )),
        (_, 1) => findings.push(Finding::ok(SERVERS, format!("{good} answer for {}", servers.zone))),
        _ => findings.push(Finding::notice(
            SERVERS,
            format!(
                "the name servers of {} are not in step: they have {} versions of the zone",
                servers.zone,
                known.len()
            ),
            "records become visible only when all have the newest",
        )),
    }
    findings
}

async fn serial(servers: &Servers, name: &Name, address: SocketAddr) -> Result<u32, String> {
    let question = Question { name: &servers.zone, kind: RecordType::SOA, recursion: false };
    match query(address, &question, None).await {
        Err(_) => Err(format!("{name} ({address}) does not answer")),
        Ok(answer) => match answer.soa {
            Some(soa) if answer.authoritative && soa.zone == servers.zone => Ok(soa.serial),
            _ => Err(format!("{name} ({address}) does not speak for {}: it answers {}", servers.zone, answer.code)),
        },
    }
}

/// Whether the zone above leads to the zone's servers.
async fn delegation(zone: &Zone, network: &Network) -> Finding {
    let Some(parent) = zone.name.parent() else {
        return Finding::ok(DELEGATION, format!("{} is at the top", zone.name));
    };
    let Some(above) = Servers::enclosing(&parent, network).await else {
        return Finding::notice(
            DELEGATION,
            format!("it cannot be seen from here who leads to {}", zone.name),
            "does the resolver of this machine answer?",
        );
    };
    let mut told = None;
    for (_, address) in &above.found {
        let question = Question { name: &zone.name, kind: RecordType::NS, recursion: false };
        if let Ok(answer) = query(*address, &question, None).await
            && answer.is_answer()
        {
            told = Some(apex_servers(&answer, &zone.name));
            break;
        }
    }
    let Some(told) = told else {
        let message =
            format!("no name server of {} answers, so it cannot be seen who leads to {}", above.zone, zone.name);
        return Finding::notice(DELEGATION, message, "try again, or ask those who run that zone");
    };
    judge(zone, &above.zone, &told, is_known_here(zone, network).await)
}

/// Whether the resolver of this machine finds the zone, by whatever way.
async fn is_known_here(zone: &Zone, network: &Network) -> bool {
    let answer = network.lookup(&zone.name, RecordType::SOA).await;
    answer.and_then(|answer| answer.soa).is_some_and(|soa| soa.zone == zone.name)
}

fn judge(zone: &Zone, parent: &Name, told: &[Name], known_here: bool) -> Finding {
    let list = |names: &mut dyn Iterator<Item = &Name>| names.map(Name::as_str).collect::<Vec<_>>().join(", ");
    let own: BTreeSet<&Name> = zone.name_servers.iter().collect();
    let theirs: BTreeSet<&Name> = told.iter().collect();
    let right = list(&mut own.iter().copied());
    let hint = format!("in {parent}, let the NS records of {} be {right}", zone.name);
    if told.is_empty() && known_here {
        let message = format!("{parent} does not lead to {}, but the resolver of this machine knows it", zone.name);
        Finding::notice(DELEGATION, message, format!("fine for a zone that is not public; else: {hint}"))
    } else if told.is_empty() {
        let message = format!("{parent} does not lead to {}, so nobody will find the records", zone.name);
        Finding::problem(DELEGATION, message, hint)
    } else if own == theirs {
        Finding::ok(DELEGATION, format!("{parent} leads to {right}"))
    } else if own.is_disjoint(&theirs) {
        let message = format!("{parent} leads to other name servers: {}", list(&mut theirs.iter().copied()));
        Finding::problem(DELEGATION, message, hint)
    } else {
        let message =
            format!("{parent} and the zone name different servers: {} and {right}", list(&mut theirs.iter().copied()));
        Finding::notice(DELEGATION, message, hint)
    }
}

#[cfg(test)]
mod tests {
    use landfall_platform::Verdict;

    use super::*;

    #[test]
    fn delegations_are_judged() {
        let names = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect::<Vec<Name>>();
        let zone = Zone {
            name: "lab.example.com".parse().unwrap(),
            name_servers: names(&["ns1.example.com", "ns2.example.com"]),
        };
        let verdict = |told: &[&str], known| judge(&zone, &"example.com".parse().unwrap(), &names(told), known).verdict;
        assert_eq!(verdict(&["ns2.example.com", "ns1.example.com"], false), Verdict::Ok);
        assert_eq!(verdict(&["ns1.example.com"], true), Verdict::Notice);
        assert_eq!(verdict(&["ns1.example.net"], true), Verdict::Problem);
        assert_eq!(verdict(&[], true), Verdict::Notice);
        assert_eq!(verdict(&[], false), Verdict::Problem);
    }
}
