//! Who may log in to the machines and pull images.

use std::collections::HashSet;

use serde_json::Value;
use ssh_key::PublicKey;

use super::Report;
use crate::{InstallConfig, Problem};

const SSH_KEY: &str = "sshKey";
const PULL_SECRET: &str = "pullSecret";

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    match &config.ssh_key {
        Some(keys) => ssh_keys(keys, report),
        None => report.notice(SSH_KEY, "is not given: nobody can log in to the machines if something goes wrong"),
    }
    match &config.pull_secret {
        Some(secret) => pull_secret(secret.expose(), report),
        None if config.distribution.is_openshift() => report.problem(
            Problem::new(PULL_SECRET, format!("is missing: distribution '{}' needs it", config.distribution.name()))
                .suggest("for OKD, '{\"auths\":{\"fake\":{\"auth\":\"aWQ6cGFzcwo=\"}}}' is enough; for OpenShift get it at https://console.redhat.com/openshift/install/pull-secret"),
        ),
        None => {}
    }
}

/// Keys as in `authorized_keys`: one per line, comments and empty lines are skipped.
fn ssh_keys(keys: &str, report: &mut Report) {
    if keys.contains("PRIVATE KEY-----") {
        report.problem(
            Problem::new(SSH_KEY, "is a private key, which must never leave your machine").suggest(
                "write the contents of the file that ends in .pub; if this file was ever shared, make a new key",
            ),
        );
        return;
    }
    let lines: Vec<(usize, &str)> = keys
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .collect();
    if lines.is_empty() {
        report.problem(
            Problem::new(SSH_KEY, "holds no key").suggest("write the contents of a file like ~/.ssh/id_ed25519.pub"),
        );
    }
    let mut seen = HashSet::new();
    for (number, line) in &lines {
        let place = if lines.len() > 1 { format!(" in line {number}") } else { String::new() };
        match PublicKey::from_openssh(line) {
            Ok(key) if !seen.insert(key.key_data().clone()) => {
                report.notice(SSH_KEY, format!("has the same key twice{place}"));
            }
            Ok(_) => {}
            Err(error) => report.problem(
                Problem::new(SSH_KEY, format!("has something{place} that is not an SSH public key: {error}"))
                    .value(line)
                    .suggest("a key is one line that begins with its type, like ssh-ed25519 AAAA…"),
            ),
        }
    }
}

/// The reference's form: `{"auths": {"registry": {"auth": "…"}}}`. Nothing of it is ever shown.
fn pull_secret(text: &str, report: &mut Report) {
    let wrong = |rule: String| {
        Problem::new(PULL_SECRET, rule)
            .suggest("it is JSON of the form {\"auths\":{\"<registry>\":{\"auth\":\"<base64>\"}}}")
    };
    let json: Value = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => {
            report.problem(wrong(format!("must be JSON: wrong at line {}, column {}", error.line(), error.column())));
            return;
        }
    };
    let Some(auths) = json.get("auths").and_then(Value::as_object) else {
        report.problem(wrong("must have a mapping 'auths'".to_owned()));
        return;
    };
    if auths.is_empty() {
        report.problem(wrong("must have credentials for at least one registry in 'auths'".to_owned()));
    }
    for (registry, credentials) in auths {
        let given = |key| credentials.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        if !given("auth") && !given("credsStore") {
            report.problem(wrong(format!("must have 'auth' or 'credsStore' for registry '{registry}'")));
        }
    }
}
