//! What is installed: distribution, version and digests.

use semver::Version;

use super::Report;
use crate::{DEFAULT_KUBERNETES_VERSION, Distribution, InstallConfig, Problem, path};

/// The minor versions of Kubernetes 1 whose kubeadm and node components the generated files fit.
const KUBERNETES_MINORS: std::ops::RangeInclusive<u64> = 34..=36;

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    if config.distribution == Distribution::Kubernetes {
        kubernetes_version(config, report);
        if config.openshift_install.is_some() {
            report.problem(
                Problem::new("openshiftInstall", "has no use with distribution 'kubernetes'")
                    .suggest("leave it out, or set distribution to 'openshift' or 'okd'"),
            );
        }
    } else if let Some(version) = &config.version
        && Version::parse(version).is_err()
    {
        report.problem(Problem::new("version", "must be a full version of the release, like 4.20.3").value(version));
    }
    for (file, digest) in &config.binary_digests {
        digest_of(&path::key("binaryDigests", file), file, digest, report);
    }
    node_agent(config, report);
}

fn kubernetes_version(config: &InstallConfig, report: &mut Report) {
    const PATH: &str = "version";
    let text = config.kubernetes_version();
    let Ok(version) = Version::parse(text) else {
        let problem = Problem::new(PATH, "must be a full version like 1.36.4").value(text);
        report.problem(match text.strip_prefix('v').map(Version::parse) {
            Some(Ok(version)) => problem.suggest(format!("write '{version}', without the v")),
            _ => problem,
        });
        return;
    };
    let (first, last) = (KUBERNETES_MINORS.start(), KUBERNETES_MINORS.end());
    if version.major != 1 || !KUBERNETES_MINORS.contains(&version.minor) {
        report.problem(
            Problem::new(PATH, format!("must be a Kubernetes from 1.{first} to 1.{last}"))
                .value(text)
                .suggest(format!("{DEFAULT_KUBERNETES_VERSION} is built in")),
        );
    } else if text != DEFAULT_KUBERNETES_VERSION && config.binary_digests.is_empty() {
        report.problem(
            Problem::new(PATH, "needs binaryDigests: the digests of its programs are not built in")
                .value(text)
                .suggest(format!("add them, or use {DEFAULT_KUBERNETES_VERSION}, which is built in")),
        );
    }
}

fn digest_of(path: &str, file: &str, digest: &str, report: &mut Report) {
    if file.is_empty() || file.contains('/') || file.chars().any(|c| c.is_whitespace() || c.is_control()) {
        report.problem(Problem::new(path, "must be the name of a file, without directories"));
    }
    let fits = ["sha512-", "sha256-"]
        .iter()
        .zip([128, 64])
        .any(|(prefix, length)| digest.strip_prefix(prefix).is_some_and(|hex| is_hex(hex, length)));
    if !fits {
        report.problem(
            Problem::new(path, "must be 'sha512-' and 128 hexadecimal digits, or 'sha256-' and 64").value(digest),
        );
    }
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
}

fn node_agent(config: &InstallConfig, report: &mut Report) {
    let Some(agent) = &config.node_agent else { return };
    let url = agent.url.replace("{arch}", config.architecture().name());
    report.problems.extend(super::sources::web_url("nodeAgent.url", &url));
    if url.contains(['{', '}']) {
        report.problem(
            Problem::new("nodeAgent.url", "must not have braces other than those of '{arch}'").value(&agent.url),
        );
    }
    if agent.sha512.len() > 1 && !agent.url.contains("{arch}") {
        report.problem(
            Problem::new(
                "nodeAgent.url",
                "must have '{arch}' in it, because there are digests for several architectures",
            )
            .value(&agent.url),
        );
    }
    for (architecture, digest) in &agent.sha512 {
        if !is_hex(digest, 128) {
            let path = path::key("nodeAgent.sha512", architecture.name());
            report.problem(
                Problem::new(path, "must be 128 lower case hexadecimal digits, as sha512sum prints them").value(digest),
            );
        }
    }
    let architecture = config.architecture();
    if !agent.sha512.contains_key(&architecture) {
        report.problem(Problem::new(
            path::key("nodeAgent.sha512", architecture.name()),
            format!("is missing: the machines are {}", architecture.name()),
        ));
    }
}
