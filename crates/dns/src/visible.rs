//! Whether what was written can be seen: at the name servers of the zone, and at the resolver of this machine.

use std::{collections::BTreeSet, net::SocketAddr, time::Duration};

use futures::future::join_all;
use landfall_platform::Progress;
use tokio::time::Instant;

use crate::{
    Data, Entry, Error, Network, RecordSet, Servers,
    client::{Answer, Question, query, wire_type},
};

/// How long, and how often somebody looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) limit: Duration,
    pub(crate) interval: Duration,
}

/// A wait that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    patience: Patience,
    began: Instant,
}

impl Patience {
    pub(crate) fn begin(self) -> Wait {
        Wait { patience: self, began: Instant::now() }
    }
}

impl Wait {
    pub(crate) fn is_over(&self) -> bool {
        self.began.elapsed() >= self.patience.limit
    }

    pub(crate) async fn pause(&self) {
        tokio::time::sleep(self.patience.interval).await;
    }

    /// The error at the end of patience: what was waited for, and what was seen instead.
    pub(crate) fn fruitless(&self, what: String, seen: String) -> Error {
        Error::Invisible { what, waited: self.began.elapsed(), seen }
    }
}

/// What one server says about an entry.
enum Sight {
    /// What it should.
    Right,
    /// Something else; for so long it will not ask again.
    Wrong(String, Option<u32>),
    /// Nothing.
    Silent,
}

/// Waits until every name server of the zone that answers has the entries. Returns those that do not answer at all: from here
/// they cannot be judged.
pub(crate) async fn at_servers(
    entries: &[Entry],
    servers: &Servers,
    wait: Wait,
    progress: Progress<'_>,
) -> Result<Vec<String>, Error> {
    loop {
        let mut waiting = Vec::new();
        let mut silent = Vec::new();
        let sights =
            join_all(servers.found.iter().map(|(name, address)| sights(entries, *address, false, name.as_str())));
        for (name, sights) in sights.await {
            for (entry, sight) in entries.iter().zip(sights) {
                match sight {
                    Sight::Right => {}
                    Sight::Silent => silent.push(name.clone()),
                    Sight::Wrong(seen, _) => waiting.push(format!("{name} has {seen} for {}", entry.name)),
                }
            }
        }
        silent.dedup();
        if waiting.is_empty() {
            return Ok(silent);
        }
        let seen = waiting.join("; ");
        if wait.is_over() {
            return Err(wait.fruitless(format!("not all name servers of {} have the records", servers.zone), seen));
        }
        let total = servers.found.len() * entries.len();
        progress(format!("{} of {total} answers are right; {seen}", total.saturating_sub(waiting.len())));
        wait.pause().await;
    }
}

/// Waits until the resolver of this machine has the entries. Returns what it still says otherwise when patience is at its end.
pub(crate) async fn at_resolver(
    entries: &[Entry],
    network: &Network,
    wait: Wait,
    progress: Progress<'_>,
) -> Option<String> {
    let Some(resolver) = network.resolvers.first() else {
        return Some("this machine has no resolver".to_owned());
    };
    loop {
        let (_, sights) = sights(entries, *resolver, true, "").await;
        let waiting: Vec<String> = entries
            .iter()
            .zip(sights)
            .filter_map(|(entry, sight)| match sight {
                Sight::Right => None,
                Sight::Silent => Some(format!("nothing for {}", entry.name)),
                Sight::Wrong(seen, None) => Some(format!("{seen} for {}", entry.name)),
                Sight::Wrong(seen, Some(ttl)) => Some(format!("{seen} for {}, and keeps it for {ttl} s", entry.name)),
            })
            .collect();
        if waiting.is_empty() {
            return None;
        }
        let seen = format!("the resolver {resolver} has {}", waiting.join("; "));
        if wait.is_over() {
            return Some(seen);
        }
        progress(seen);
        wait.pause().await;
    }
}

/// What a server says about all entries.
async fn sights(entries: &[Entry], server: SocketAddr, recursion: bool, name: &str) -> (String, Vec<Sight>) {
    let sights = join_all(entries.iter().map(|entry| sight(entry, server, recursion))).await;
    (format!("{name} ({server})"), sights)
}

async fn sight(entry: &Entry, server: SocketAddr, recursion: bool) -> Sight {
    for set in entry.sets() {
        let question = Question { name: &entry.name.example(), kind: wire_type(set.kind), recursion };
        match query(server, &question, None).await {
            Err(_) => return Sight::Silent,
            Ok(answer) if is_right(&answer, &set) => {}
            Ok(answer) => return Sight::Wrong(shown(&answer, &set), remembered(&answer)),
        }
    }
    Sight::Right
}

fn is_right(answer: &Answer, wanted: &RecordSet) -> bool {
    let said: BTreeSet<Data> = answer.data().filter(|data| data.kind() == wanted.kind).cloned().collect();
    answer.is_answer() && said == wanted.data
}

fn shown(answer: &Answer, wanted: &RecordSet) -> String {
    let said: Vec<String> = answer.data().filter(|data| data.kind() == wanted.kind).map(ToString::to_string).collect();
    match said.as_slice() {
        [] if answer.code == "NOERROR" => format!("no {}", wanted.kind),
        [] => answer.code.to_owned(),
        said => said.join(", "),
    }
}

/// For how long a resolver keeps its answer.
fn remembered(answer: &Answer) -> Option<u32> {
    let positive = answer.records.iter().map(|(_, ttl, _)| *ttl).min();
    positive.or(answer.soa.as_ref().map(|soa| soa.negative_ttl))
}
