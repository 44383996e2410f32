//! Names: the cluster's, its domain, and labels.

use super::{refused, welcome};
use crate::support::{accepted, assert_notice};

#[test]
fn cluster_names() {
    let long = format!("metadata.name={}", "a".repeat(55));
    refused(&[
        (&long, "metadata.name", "at most 54 characters long, not 55"),
        ("metadata.name=a.b", "metadata.name", "one DNS label, without dots\n    'a-b' would do"),
        ("metadata.name=Demo", "metadata.name", "lower case letters (a to z), digits and hyphens\n    'demo' would do"),
        ("metadata.name=dämo", "metadata.name", "lower case letters (a to z)"),
        ("metadata.name=日本", "metadata.name", "lower case letters (a to z)"),
        ("metadata.name=-a", "metadata.name", "begin and end with a letter or digit"),
        ("metadata.name=a-", "metadata.name", "begin and end with a letter or digit"),
        ("metadata.name=a b", "metadata.name", "'a-b' would do"),
        ("metadata.name=''", "metadata.name", "must not be empty"),
    ]);
    welcome(&[
        "metadata.name=a",
        "metadata.name=1",
        "metadata.name=a-1-b",
        &format!("metadata.name={}", "a".repeat(54)),
    ]);
}

#[test]
fn domains() {
    let label = format!("baseDomain={}.com", "a".repeat(64));
    let longest = format!("baseDomain={}com", "a.".repeat(118));
    let long = format!("baseDomain={}co", "ab.".repeat(81));
    refused(&[
        ("baseDomain=''", "baseDomain", "must not be empty"),
        ("baseDomain=Example.com", "baseDomain", "write 'example.com'"),
        ("baseDomain=https://example.com/", "baseDomain", "write 'example.com', without the scheme"),
        ("baseDomain=a..b", "baseDomain", "must be a domain"),
        ("baseDomain=.", "baseDomain", "must be a domain"),
        ("baseDomain=exämple.com", "baseDomain", "must be a domain"),
        ("baseDomain=_a.com", "baseDomain", "must be a domain"),
        ("baseDomain=192.0.2.1", "baseDomain", "must be a domain, not an address"),
        (&label, "baseDomain", "must be a domain"),
        (&long, "baseDomain", "makes names of 258 characters, and DNS allows 253"),
    ]);
    welcome(&["baseDomain=example.com.", "baseDomain=lab", "baseDomain=a-b.1c.de", &longest]);
    assert_notice(&["baseDomain=lab.local"], "baseDomain", "multicast");
    assert_eq!(accepted(&["baseDomain=example.com."]).config.cluster_domain(), "demo.example.com");
}

#[test]
fn labels() {
    let long = format!("labels.a={}", "x".repeat(64));
    refused(&[
        ("labels.\"a b\"=c", "labels.\"a b\"", "must have a name of letters"),
        ("labels.\"example..com/a\"=c", "labels.\"example..com/a\"", "must have a domain before the '/'"),
        ("labels.\"/a\"=c", "labels./a", "must have a domain before the '/'"),
        ("labels.\"x.kubernetes.io/a\"=c", "labels.\"x.kubernetes.io/a\"", "kept for Kubernetes itself"),
        ("labels.a=b c", "labels.a", "must have a value of letters"),
        ("labels.a=-b", "labels.a", "must have a value of letters"),
        (&long, "labels.a", "at most 63 characters"),
    ]);
    welcome(&["labels.a=b", "labels={a: ''}", "labels.\"example.com/a_b.c\"=D-1", "labels.\"mykubernetes.io/a\"=b"]);
}
