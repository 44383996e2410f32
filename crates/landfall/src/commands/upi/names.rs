//! What resolvers say.

use std::net::SocketAddr;

use futures::{StreamExt as _, stream};
use landfall_dns::{Data, Name, Network, Seen, Type, ask_resolver, ask_zone};
use landfall_platform::Environment;
use landfall_upi::{
    Record,
    check::{Answer, DnsView, Question, questions},
};

use super::check::resolver_address;
use crate::error::Error;

/// Questions that a resolver gets at once.
const AT_ONCE: usize = 16;

/// The resolvers that are named, or those of this machine.
pub(super) fn resolvers(named: &[String], environment: &Environment) -> Result<Vec<SocketAddr>, Error> {
    if named.is_empty() {
        return Ok(Network::of(environment).resolvers);
    }
    let address = |text: &String| {
        resolver_address(text)
            .ok_or_else(|| Error::Usage(format!("'{text}' is not an address like 192.0.2.53 or 192.0.2.53:5353")))
    };
    named.iter().map(address).collect()
}

/// Asks a resolver everything; and where it is not asked in vain, the zone's own servers too. `port` is that of name servers.
pub(super) async fn look(resolver: SocketAddr, port: u16, domain: &str, records: &[Record]) -> DnsView {
    let network = Network { resolvers: vec![resolver], port };
    let ask = async |questions: Vec<Question>| {
        let one = async |question: Question| {
            let (name, kind) = parsed(&question)?;
            let seen = ask_resolver(resolver, &name, kind).await?;
            let zone = ask_zone(&network, &name, kind).await;
            Some((question, answer(&seen), zone.as_ref().map(answer)))
        };
        stream::iter(questions.into_iter().map(one)).buffer_unordered(AT_ONCE).collect::<Vec<_>>().await
    };
    let mut first = questions(domain, records);
    let rest = first.split_off(first.len().min(AT_ONCE));
    let mut answers = ask(first).await;
    // Whoever is silent about so many things is silent about all of them, and to each question for seconds.
    if answers.iter().any(Option::is_some) {
        answers.extend(ask(rest).await);
    }
    let mut view = DnsView { resolver: resolver.to_string(), ..DnsView::default() };
    for (question, seen, zone) in answers.into_iter().flatten() {
        view.authoritative.extend(zone.map(|zone| (question.clone(), zone)));
        view.answers.insert(question, seen);
    }
    view
}

fn parsed(question: &Question) -> Option<(Name, Type)> {
    Some((question.name.parse().ok()?, question.kind.parse().ok()?))
}

fn answer(seen: &Seen) -> Answer {
    let value = |data: &Data| match data {
        Data::Srv(service) => format!("{} {}", service.port, service.host),
        other => other.to_string().trim_end_matches('.').to_owned(),
    };
    Answer { values: seen.data.iter().map(value).collect(), ttl: seen.ttl }
}
