//! How traffic gets to the cluster, virtual networks, and tags.

use landfall_platform::survey::{Answers, Choice, Composed, Field, Key, Question};

use super::{Stop, Survey, key, or_by_hand, project, typed};
use crate::Client;

/// No address of its own: names that lead to all machines.
pub(super) const ROUND_ROBIN: &str = "dnsRoundRobin";
/// A virtual network is made.
pub(super) const NEW_NETWORK: &str = "new";

impl Survey {
    pub(super) async fn compose_network(&mut self, key: Key, answers: &Answers) -> Composed {
        match key {
            key::ENDPOINT => Composed::ask(endpoint()),
            key::IPV6 => Composed::ask(
                Question::confirm("Do machines get public IPv6 addresses?", true).help("Beside those of IPv4"),
            ),
            key::WORKERS_PUBLIC => Composed::ask(
                Question::confirm("Do workers get public IPv4 addresses?", true)
                    .help("Without them they need a way out that you provide; masters always have them"),
            ),
            key::TAGS => Composed::ask(typed(
                "Tags",
                Field::texts(key).optional(),
                "For all objects of the cluster beside its own mark, with commas; or nothing",
            )),
            _ => match self.client(answers).filter(|_| !project::makes_one(answers)) {
                Some(client) => or_by_hand(networks(client, answers).await, network(Vec::new())),
                None => Composed::ask(network(Vec::new())),
            },
        }
    }
}

fn endpoint() -> Question {
    let choices = vec![
        Choice::new("eip", "Elastic addresses that are moved to a healthy machine"),
        Choice::new("bgp", "Elastic addresses that machines announce over BGP"),
        Choice::new(ROUND_ROBIN, "Names that lead to all machines"),
    ];
    Question::select("How does traffic get to API and ingress?", choices)
        .help("The network is routed, so virtual addresses by keepalived do not work here")
}

async fn networks(client: &Client, answers: &Answers) -> Result<Composed, Stop> {
    let known = client.virtual_networks(project::existing(answers).unwrap_or_default()).await?;
    let known = known.into_iter().map(|net| Choice::new(net.id, format!("The existing one with number {}", net.vxlan)));
    Ok(Composed::ask(network(known.collect())))
}

fn network(known: Vec<Choice>) -> Question {
    let mut choices = vec![Choice::new("", "None"), Choice::new(NEW_NETWORK, "A new one, which goes with the cluster")];
    choices.extend(known);
    Question::select("Virtual network (VLAN)", choices).help("Machines are attached to it beside their routed network")
}
