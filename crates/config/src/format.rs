//! The syntaxes of text that the schema names.

use std::net::IpAddr;

use ipnet::IpNet;
use url::Url;
use uuid::Uuid;

use crate::{Problem, Span};

/// Checks text against a named syntax: the same parsers that the types use.
pub(crate) fn check(format: &str, text: &str, path: &str) -> Option<Problem> {
    let wrong = |rule: &str| Problem::new(path, rule).value(text);
    match format {
        "uuid" => Uuid::parse_str(text).is_err().then(|| {
            wrong("must be an id of the engine, like 5a0b6f2e-93c5-4b0c-9d1f-2f6e8c1a7b01")
                .suggest("the engine's web portal shows ids in the details of each object")
        }),
        "ip" => text.parse::<IpAddr>().is_err().then(|| match text.parse::<IpNet>() {
            Ok(net) => wrong("must be one address, not a network").suggest(format!("write {}", net.addr())),
            Err(_) => wrong("must be an IP address, like 192.0.2.5 or 2001:db8::5"),
        }),
        "cidr" => text.parse::<IpNet>().is_err().then(|| match text.parse::<IpAddr>() {
            Ok(address) => wrong("must have a prefix length").suggest(format!("write {address}/24, for example")),
            Err(_) => wrong("must be a network, like 192.0.2.0/24 or 2001:db8::/64"),
        }),
        "uri" => match Url::parse(text) {
            Ok(_) => None,
            Err(error) => Some(Problem::new(path, format!("must be a URL: {error}")).value(without_password(text))),
        },
        "span" => text.parse::<Span>().is_err().then(|| wrong("must be a length of time, like 90s, 20m or 1h30m")),
        other => unreachable!("no field of the install-config has the format {other}"),
    }
}

/// What the type is called in documentation.
pub(crate) fn describe(format: Option<&str>) -> &'static str {
    match format {
        Some("uuid") => "id",
        Some("ip") => "IP address",
        Some("cidr") => "network",
        Some("uri") => "URL",
        Some("span") => "length of time",
        _ => "text",
    }
}

/// A well-formed value, to go on with after a wrong one.
pub(crate) fn placeholder(format: Option<&str>) -> &'static str {
    match format {
        Some("uuid") => "00000000-0000-0000-0000-000000000000",
        Some("ip") => "192.0.2.1",
        Some("cidr") => "192.0.2.0/24",
        Some("uri") => "https://placeholder.invalid/",
        Some("span") => "1m",
        _ => "placeholder",
    }
}

/// A URL without the user name and password that may be in it.
pub(crate) fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (&url[..scheme.len() + 3], rest));
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..authority_end].rfind('@') {
        Some(at) => format!("{scheme}…@{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_well_formed() {
        for format in ["uuid", "ip", "cidr", "uri", "span"] {
            assert_eq!(check(format, placeholder(Some(format)), "x"), None, "{format}");
            assert!(check(format, "not one", "x").is_some(), "{format}");
        }
    }

    #[test]
    fn suggests_the_near_miss() {
        let suggestion = |format, text| check(format, text, "x").unwrap().suggestion.unwrap();
        assert_eq!(suggestion("ip", "192.0.2.5/24"), "write 192.0.2.5");
        assert_eq!(suggestion("cidr", "192.0.2.0"), "write 192.0.2.0/24, for example");
    }

    #[test]
    fn hides_credentials() {
        for (url, shown) in [
            ("http://user:p@ss@proxy:3128/x", "http://…@proxy:3128/x"),
            ("user:pass@proxy", "…@proxy"),
            ("http://proxy:3128", "http://proxy:3128"),
            ("http://proxy/a@b", "http://proxy/a@b"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
