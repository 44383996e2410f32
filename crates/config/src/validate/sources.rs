//! Where images and programs are fetched from.

use std::{collections::HashSet, net::IpAddr};

use url::Url;

use crate::{InstallConfig, Problem, format, path, report::Report};

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    if let Some(mirror) = &config.binary_mirror {
        report.check(web_url("binaryMirror", mirror.as_str()));
        if mirror.query().is_some() || mirror.fragment().is_some() {
            report.problem(
                Problem::new("binaryMirror", "must be the URL of a directory, without '?' or '#'").value(mirror),
            );
        }
    }
    let mut sources = HashSet::new();
    for (i, entry) in config.image_mirrors.iter().enumerate() {
        let path = path::index("imageMirrors", i);
        let source_path = path::key(&path, "source");
        report.check(image_repository(&source_path, &entry.source));
        if !sources.insert(entry.source.as_str()) {
            report.problem(
                Problem::new(&source_path, "must stand only once in the list")
                    .value(&entry.source)
                    .suggest("write all its mirrors into one entry"),
            );
        }
        if entry.mirrors.is_empty() {
            report.problem(Problem::new(path::key(&path, "mirrors"), "must name at least one mirror"));
        }
        for (j, mirror) in entry.mirrors.iter().enumerate() {
            let path = path::index(&path::key(&path, "mirrors"), j);
            report.check(image_repository(&path, mirror));
            if *mirror == entry.source {
                report.problem(Problem::new(&path, "must not be the source itself").value(mirror));
            }
        }
    }
}

/// Whether a URL leads to this very computer, where nobody can listen in.
pub(super) fn is_here(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let host = host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

/// A URL that machines can fetch from.
pub(super) fn web_url(path: &str, text: &str) -> Option<Problem> {
    let shown = format::without_password(text);
    match Url::parse(text) {
        Err(error) => Some(Problem::new(path, format!("must be a URL: {error}")).value(shown)),
        Ok(url) if !["http", "https"].contains(&url.scheme()) || url.host().is_none() => {
            Some(Problem::new(path, "must be a URL that begins with http:// or https://").value(shown))
        }
        Ok(_) => None,
    }
}

/// `host[:port][/path…]` as in the name of an image, without scheme, tag or digest.
fn image_repository(path: &str, text: &str) -> Option<Problem> {
    let problem = |rule: &str| Some(Problem::new(path, rule).value(text));
    if let Some((_, rest)) = text.split_once("://") {
        return problem("must not have a scheme").map(|p| p.suggest(format!("write '{}'", rest.trim_end_matches('/'))));
    }
    if text.contains('@') {
        return problem("must not have a digest");
    }
    let (host, rest) = text.split_once('/').map_or((text, None), |(host, rest)| (host, Some(rest)));
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let valid_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric());
    if !valid_name || port.is_some_and(|port| port.parse::<u16>().map_or(true, |port| port == 0)) {
        return problem(
            "must begin with the host of a registry, like registry.example.com or registry.example.com:5000",
        );
    }
    match rest {
        None => None,
        Some(rest) if rest.contains(':') => problem("must not have a tag"),
        Some(rest) if rest.split('/').all(is_repository_part) => None,
        Some(_) => problem("must have a path of lower case letters, digits, '.', '_' and '-' after the host"),
    }
}

fn is_repository_part(part: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    part.starts_with(alphanumeric)
        && part.ends_with(alphanumeric)
        && part.chars().all(|c| alphanumeric(c) || matches!(c, '.' | '_' | '-'))
}
