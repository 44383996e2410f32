//! The ports of the load balancer and of the machines behind it.

use std::net::SocketAddr;

use landfall_platform::Finding;

use crate::Port;

const CHECK: &str = "load balancer";

/// What somebody saw at a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The connection was refused, timed out or found no way there.
    Closed(String),
    /// Somebody listens, and nobody answers behind it.
    Listens,
    /// Somebody answers whose certificate is not from this cluster.
    Foreign,
    /// Somebody answers; for ports with a health check, with this status.
    Answers(Option<u16>),
}

impl Sight {
    /// Whether whoever answers is well.
    fn is_well(&self) -> bool {
        matches!(self, Self::Answers(None | Some(200)))
    }
}

/// What was seen of one port.
#[derive(Clone, Debug)]
pub struct PortView {
    /// The port.
    pub port: Port,
    /// At the addresses of the load balancer.
    pub front: Vec<(SocketAddr, Sight)>,
    /// At the machines behind it.
    pub back: Vec<(String, SocketAddr, Sight)>,
}

/// Judges one port.
pub fn load_balancer(view: &PortView) -> Vec<Finding> {
    let PortView { port, front, back } = view;
    let well: Vec<&(String, SocketAddr, Sight)> = back.iter().filter(|(_, _, sight)| sight.is_well()).collect();
    let check = if port.health.is_some() { " check check-ssl verify none" } else { " check" };
    let servers = || {
        let lines = port.servers.iter().map(|(name, socket)| format!("server {name} {socket}{check}"));
        format!("backend {}: {}", port.name, lines.collect::<Vec<_>>().join("; "))
    };
    let strangers = back.iter().filter(|(_, _, sight)| *sight == Sight::Foreign);
    let mut findings: Vec<Finding> = strangers
        .map(|(name, socket, _)| {
            Finding::problem(
                CHECK,
                format!("{socket}, which is to be {name}, answers with a certificate of another cluster"),
                format!("find out who has the address of {name}, or give it another one in inventory.yml"),
            )
        })
        .collect();
    for (socket, sight) in front {
        findings.push(match (sight, well.first()) {
            (Sight::Foreign, _) => Finding::problem(
                CHECK,
                format!("{socket} answers with a certificate of another cluster: it leads to that one's machines"),
                servers(),
            ),
            (Sight::Closed(reason), _) => Finding::problem(
                CHECK,
                format!("{socket} ({}) does not take connections: {reason}", port.purpose),
                format!("frontend {}: bind {socket}", port.name),
            ),
            (Sight::Answers(Some(status)), _) if *status != 200 => Finding::problem(
                CHECK,
                format!(
                    "{socket} answers {status} where 200 is expected of {}: it leads to another port or server",
                    port.purpose
                ),
                servers(),
            ),
            (Sight::Listens, Some((name, server, _))) => Finding::problem(
                CHECK,
                format!("{socket} does not lead to {name}, which is well at {server}"),
                format!("backend {}: server {name} {server}{check}", port.name),
            ),
            (Sight::Answers(Some(_)), None) => Finding::problem(
                CHECK,
                format!("{socket} answers, though none of the cluster's machines does: it leads to somebody else's"),
                servers(),
            ),
            (Sight::Listens | Sight::Answers(_), None) => {
                Finding::ok(CHECK, format!("{socket} takes connections; no machine behind it is up yet"))
            }
            (Sight::Answers(_), Some(_)) => {
                Finding::ok(CHECK, format!("{socket} leads to {} of {} machines", well.len(), back.len()))
            }
        });
    }
    findings
}
