//! Names: the cluster's, its domain, and labels.

use crate::{InstallConfig, Problem, path, report::Report};

/// Machine names carry the cluster's name and more, and are labels of at most 63 characters themselves.
const MAX_NAME: usize = 54;

/// The longest name below the cluster's domain that Landfall itself makes.
const LONGEST_PREFIX: &str = "api-int.";
const MAX_DOMAIN: usize = 253;
const MAX_LABEL: usize = 63;

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    report.check(dns_label("metadata.name", &config.metadata.name, MAX_NAME));
    base_domain(config, report);
    for (key, value) in &config.labels {
        label(&path::key("labels", key), key, value, report);
    }
}

/// Whether a name is one DNS label of at most a number of characters.
pub(super) fn dns_label(path: &str, name: &str, max: usize) -> Option<Problem> {
    let rule = if name.is_empty() {
        "must not be empty".to_owned()
    } else if name.contains('.') {
        "must be one DNS label, without dots".to_owned()
    } else if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        "must consist of lower case letters (a to z), digits and hyphens".to_owned()
    } else if name.starts_with('-') || name.ends_with('-') {
        "must begin and end with a letter or digit".to_owned()
    } else if name.len() > max {
        format!("must be at most {max} characters long, not {}", name.len())
    } else {
        return None;
    };
    let problem = Problem::new(path, rule).value(name);
    Some(match proposal(name, max) {
        Some(proposal) => problem.suggest(format!("'{proposal}' would do")),
        None => problem,
    })
}

/// The name as near to what was written as the rules allow.
fn proposal(name: &str, max: usize) -> Option<String> {
    let replaced: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .skip_while(|c| *c == '-')
        .take(max)
        .collect();
    let words: Vec<&str> = replaced.split('-').filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.join("-"))
}

fn base_domain(config: &InstallConfig, report: &mut Report) {
    let domain = config.base_domain.trim_end_matches('.');
    if let Some(problem) = domain_name("baseDomain", &config.base_domain) {
        report.problem(problem);
        return;
    }
    let length = LONGEST_PREFIX.len() + config.cluster_domain().len();
    if length > MAX_DOMAIN {
        let longest = format!("{LONGEST_PREFIX}{}", config.cluster_domain());
        report.problem(
            Problem::new("baseDomain", format!("makes names of {length} characters, and DNS allows {MAX_DOMAIN}"))
                .value(longest),
        );
    }
    if domain.rsplit('.').next() == Some("local") {
        report.notice(
            "baseDomain",
            "names below '.local' are asked by multicast on many machines, which then cannot reach the cluster",
        );
    }
}

/// Whether a text is a domain name in lower case; one trailing dot is fine.
pub(super) fn domain_name(path: &str, text: &str) -> Option<Problem> {
    let domain = text.strip_suffix('.').unwrap_or(text);
    let labels = domain.split('.').collect::<Vec<_>>();
    let valid_label = |label: &&str| {
        (1..=MAX_LABEL).contains(&label.len())
            && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let problem = if text.is_empty() {
        Problem::new(path, "must not be empty")
    } else if domain.len() > MAX_DOMAIN {
        Problem::new(path, format!("must be at most {MAX_DOMAIN} characters long")).value(text)
    } else if !labels.iter().all(valid_label) {
        let problem = Problem::new(
            path,
            "must be a domain: labels of lower case letters, digits and hyphens, at most 63 characters each, with dots between",
        )
        .value(text);
        let lower = domain.to_ascii_lowercase();
        if lower != domain && domain_name(path, &lower).is_none() {
            problem.suggest(format!("write '{lower}'"))
        } else if let Some(rest) = domain.split_once("://").map(|(_, rest)| rest.trim_end_matches('/')) {
            problem.suggest(format!("write '{rest}', without the scheme"))
        } else {
            problem
        }
    } else if labels.last().is_some_and(|label| label.chars().all(|c| c.is_ascii_digit())) {
        Problem::new(path, "must be a domain, not an address").value(text)
    } else {
        return None;
    };
    Some(problem)
}

/// A label of Kubernetes: an optional domain and `/`, then up to 63 characters; the value is the same or empty.
fn label(path: &str, key: &str, value: &str, report: &mut Report) {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if !is_label_part(name) {
        report.problem(
            Problem::new(path, "must have a name of letters, digits, '-', '_' and '.', at most 63 characters, beginning and ending with a letter or digit"),
        );
    }
    if prefix.is_some_and(|prefix| domain_name(path, prefix).is_some()) {
        report.problem(Problem::new(path, "must have a domain before the '/'"));
    }
    if prefix.is_some_and(|prefix| ["kubernetes.io", "k8s.io"].iter().any(|own| is_below(prefix, own))) {
        report.problem(
            Problem::new(path, "must not be below kubernetes.io or k8s.io, which are kept for Kubernetes itself")
                .suggest("use a domain of your own"),
        );
    }
    if !value.is_empty() && !is_label_part(value) {
        report.problem(
            Problem::new(path, "must have a value of letters, digits, '-', '_' and '.', at most 63 characters, beginning and ending with a letter or digit")
                .value(value),
        );
    }
}

/// Whether a domain is another one or lies below it.
pub(super) fn is_below(domain: &str, parent: &str) -> bool {
    domain.strip_suffix(parent).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn is_label_part(text: &str) -> bool {
    (1..=MAX_LABEL).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
}
