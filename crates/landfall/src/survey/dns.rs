//! Where the cluster's public records are made. Asked where addresses are known only during the installation.

use landfall_platform::survey::{Answers, Choice, Composed, Key, Question, Rule};
use serde_json::{Value, json};

/// Which backend.
pub(super) const BACKEND: Key = "dns";
pub(super) const SERVER: Key = "dns.rfc2136.server";
pub(super) const KEY_NAME: Key = "dns.rfc2136.keyName";
pub(super) const KEY_FILE: Key = "dns.rfc2136.keyFile";
pub(super) const TOKEN_FILE: Key = "dns.cloudflare.tokenFile";

/// All questions, in order.
pub(super) const KEYS: [Key; 5] = [BACKEND, SERVER, KEY_NAME, KEY_FILE, TOKEN_FILE];

const RFC2136: &str = "rfc2136";
const ROUTE53: &str = "route53";
const CLOUDFLARE: &str = "cloudflare";

/// Whether a question is put, where questions about DNS are put at all.
pub(super) fn applies(key: Key, answers: &Answers) -> bool {
    let backend = answers.text(BACKEND).filter(|_| !answers.is_given(BACKEND));
    match key {
        SERVER | KEY_NAME | KEY_FILE => backend == Some(RFC2136),
        TOKEN_FILE => backend == Some(CLOUDFLARE),
        _ => true,
    }
}

/// Which backend: one of the platform's own, or one that serves every platform.
pub(super) fn compose_backend(mut choices: Vec<Choice>) -> Composed {
    choices.extend([
        Choice::new(ROUTE53, "Amazon Route 53, with the usual AWS credentials"),
        Choice::new(CLOUDFLARE, "Cloudflare"),
        Choice::new(RFC2136, "A name server that takes dynamic updates (RFC 2136)"),
    ]);
    let question = Question::select("Where are the cluster's DNS records made?", choices)
        .help("The addresses of API and ingress are known only during the installation");
    Composed::ask(question)
}

pub(super) fn compose(key: Key, rule: Rule) -> Composed {
    let (message, help) = match key {
        SERVER => ("Primary name server", "As host or host:port"),
        KEY_NAME => ("Name of the TSIG key", "As the name server's configuration spells it"),
        KEY_FILE => ("File with the TSIG secret", "In base64, relative to the install directory; it is not read now"),
        _ => (
            "File with the API token",
            "One that may edit the zone, relative to the install directory; it is not read now",
        ),
    };
    Composed::ask(Question::text(message, rule).help(help))
}

/// The backend that was chosen, where no other question fills its section.
pub(super) fn section(answers: &Answers) -> Value {
    match answers.text(BACKEND).filter(|_| !answers.is_given(BACKEND)) {
        Some(RFC2136 | CLOUDFLARE) | None => json!({}),
        Some(backend) => json!({ "dns": { backend: {} } }),
    }
}
