//! Names, forth and back, as one resolver knows them.

use std::collections::{BTreeMap, BTreeSet};

use landfall_platform::Finding;

use crate::{Record, Value};

const CHECK: &str = "dns";
/// A name that nobody has, to find out for whom a wildcard answers.
const NOBODY: &str = "landfall-check";

/// A question to a name server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The name.
    pub name: String,
    /// `A`, `AAAA`, `PTR` or `SRV`.
    pub kind: &'static str,
}

/// What a name server said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Addresses or names, without a dot at the end; of services the port and the host: how often one is asked is the user's business.
    pub values: BTreeSet<String>,
    /// For how many seconds the resolver goes on saying so.
    pub ttl: Option<u32>,
}

/// What was seen through one resolver.
#[derive(Clone, Debug, Default)]
pub struct DnsView {
    /// The resolver.
    pub resolver: String,
    /// What it said; nothing for a question that it did not answer at all.
    pub answers: BTreeMap<Question, Answer>,
    /// What the name servers of the zone itself said, as far as they could be found.
    pub authoritative: BTreeMap<Question, Answer>,
}

/// Everything that has to be asked to judge these records.
pub fn questions(domain: &str, records: &[Record]) -> Vec<Question> {
    let mut questions: Vec<Question> = expected(records).into_keys().collect();
    questions.extend(["A", "AAAA"].map(|kind| Question { name: format!("{NOBODY}.{domain}"), kind }));
    questions
}

/// What each question is to be answered with.
fn expected(records: &[Record]) -> BTreeMap<Question, BTreeSet<String>> {
    let mut expected: BTreeMap<Question, BTreeSet<String>> = BTreeMap::new();
    for record in records {
        let value = match &record.value {
            Value::Address(address) => address.to_string(),
            Value::Pointer(name) => name.clone(),
            Value::Service { port, host } => format!("{port} {host}"),
        };
        let name = record.name.replacen('*', NOBODY, 1);
        expected.entry(Question { name, kind: record.value.kind() }).or_default().insert(value);
    }
    expected
}

/// Compares what a resolver says with what the cluster needs.
pub fn dns(domain: &str, records: &[Record], view: &DnsView) -> Vec<Finding> {
    let resolver = &view.resolver;
    if view.answers.is_empty() {
        let (address, port) = resolver.rsplit_once(':').unwrap_or((resolver, "53"));
        let address = address.trim_matches(['[', ']']);
        let hint = format!("is it a name server, and may this machine ask it? dig @{address} -p {port} api.{domain}");
        return vec![Finding::problem(CHECK, format!("{resolver} does not answer"), hint)];
    }
    let mut findings = wildcards(domain, view);
    for (question, wanted) in expected(records) {
        let nothing = Answer::default();
        let answer = view.answers.get(&question).unwrap_or(&nothing);
        if answer.values == wanted {
            continue;
        }
        // What a wildcard for the cluster's whole domain says is no answer of any name.
        let nobody = Question { name: format!("{NOBODY}.{domain}"), kind: question.kind };
        let swallowed = view.answers.get(&nobody).map(|answer| &answer.values).filter(|values| !values.is_empty());
        let seen = match &answer.values {
            values if values.is_empty() => format!("{resolver} knows no {} record of {}", question.kind, question.name),
            values => format!(
                "{resolver} says that {} {} is {} instead of {}",
                question.name,
                question.kind,
                joined(values),
                joined(&wanted)
            ),
        };
        let hint = lines(&question, &wanted);
        let is_right_there = view.authoritative.get(&question).is_some_and(|answer| answer.values == wanted);
        findings.push(match (is_right_there, swallowed) {
            (true, _) => {
                let ttl = answer.ttl.map_or_else(|| "for a while".to_owned(), |ttl| format!("for {ttl} s"));
                Finding::problem(
                    CHECK,
                    format!("{seen}: a stale answer, since the zone's own servers are right"),
                    format!("empty the resolver's cache, or wait: it remembers {ttl}"),
                )
            }
            (_, Some(values)) if *values == answer.values => {
                Finding::problem(CHECK, format!("{seen}: a wildcard answers for it"), hint)
            }
            _ => Finding::problem(CHECK, seen, hint),
        });
    }
    if findings.is_empty() {
        findings.push(Finding::ok(
            CHECK,
            format!("{resolver} knows all {} names, forth and back", expected(records).len()),
        ));
    }
    findings
}

/// A wildcard for the whole domain makes machines believe that every name exists.
fn wildcards(domain: &str, view: &DnsView) -> Vec<Finding> {
    let nobody = view.answers.iter().filter(|(question, _)| question.name == format!("{NOBODY}.{domain}"));
    nobody
        .filter(|(_, answer)| !answer.values.is_empty())
        .map(|(question, answer)| {
            let seen = format!(
                "{} answers for names that do not exist: {NOBODY}.{domain} {} is {}",
                view.resolver,
                question.kind,
                joined(&answer.values)
            );
            let hint = format!(
                "remove the wildcard '*.{domain}. {} …', or one above it; only *.apps.{domain} is needed",
                question.kind
            );
            Finding::problem(CHECK, seen, hint)
        })
        .collect()
}

/// The lines of a zone file that are missing.
fn lines(question: &Question, wanted: &BTreeSet<String>) -> String {
    let name = match question.name.split_once('.') {
        Some((NOBODY, parent)) => format!("*.{parent}"),
        _ => question.name.clone(),
    };
    let (before, dot) = match question.kind {
        "PTR" => ("", "."),
        "SRV" => ("0 10 ", "."),
        _ => ("", ""),
    };
    let lines = wanted.iter().map(|value| format!("{name}. 300 IN {} {before}{value}{dot}", question.kind));
    lines.collect::<Vec<_>>().join("; ")
}

fn joined(values: &BTreeSet<String>) -> String {
    values.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
