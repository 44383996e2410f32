//! Versions, digests and where things are fetched from.

use super::{refused, welcome};
use crate::support::{accepted, assert_notice, assert_problem};

#[test]
fn versions() {
    let secret = "pullSecret={\"auths\":{\"a\":{\"auth\":\"b\"}}}";
    refused(&[
        ("version=1.36", "version", "must be a full version like 1.36.4"),
        ("version=v1.36.4", "version", "write '1.36.4', without the v"),
        ("version=1.12.0", "version", "must be a Kubernetes from 1.34 to 1.36"),
        ("version=1.99.0", "version", "must be a Kubernetes from 1.34 to 1.36"),
        ("version=2.36.0", "version", "must be a Kubernetes from 1.34 to 1.36"),
        ("version=1.35.2", "version", "needs binaryDigests"),
        ("openshiftInstall={path: /bin/x}", "openshiftInstall", "has no use with distribution 'kubernetes'"),
    ]);
    assert_problem(&["distribution=okd", secret, "version=latest"], "version", "full version of the release");
    accepted(&["distribution=okd", secret, "version=4.21.0-okd-scos.3", "openshiftInstall={path: /bin/x}"]);
    accepted(&["version=1.35.2", &format!("binaryDigests.kubelet=sha512-{}", "0a".repeat(64))]);
    assert_eq!(accepted(&[]).config.kubernetes_version(), "1.36.4");
    assert_eq!(accepted(&["distribution=okd", secret]).config.version, None);
}

#[test]
fn digests() {
    let upper = format!("binaryDigests.kubelet=sha256-{}", "0A".repeat(32));
    let folder = format!("binaryDigests.\"bin/kubelet\"=sha256-{}", "0a".repeat(32));
    refused(&[
        ("binaryDigests.kubelet=abc", "binaryDigests.kubelet", "must be 'sha512-' and 128 hexadecimal digits"),
        ("binaryDigests.kubelet=sha512-abc", "binaryDigests.kubelet", "must be 'sha512-' and 128"),
        (&upper, "binaryDigests.kubelet", "must be 'sha512-' and 128"),
        (&folder, "binaryDigests.bin/kubelet", "without directories"),
    ]);
    welcome(&[&format!("binaryDigests.\"cni-1.8.tgz\"=sha256-{}", "0a".repeat(32))]);
}

#[test]
fn node_agents() {
    let digest = "0a".repeat(64);
    let agent = |url: &str, digests: &str| format!("nodeAgent={{url: '{url}', sha512: {{{digests}}}}}");
    let amd64 = format!("amd64: '{digest}'");
    let both = format!("{amd64}, arm64: '{digest}'");
    refused(&[
        (&agent("https://a/b", ""), "nodeAgent.sha512.amd64", "is missing: the machines are amd64"),
        (&agent("https://a/b", "amd64: abc"), "nodeAgent.sha512.amd64", "128 lower case hexadecimal digits"),
        (&agent("ftp://a/b", &amd64), "nodeAgent.url", "http:// or https://"),
        (&agent("https://a/{os}", &amd64), "nodeAgent.url", "braces other than those of '{arch}'"),
        (&agent("https://a/b", &both), "nodeAgent.url", "must have '{arch}' in it"),
    ]);
    assert_problem(
        &[&agent("https://a/b", &format!("{amd64}, x86: abc"))],
        "nodeAgent.sha512.x86",
        "is not a known field\n    known here: amd64, arm64, ppc64le",
    );
    accepted(&[&agent("https://a/{arch}", &both)]);
}

#[test]
fn mirrors() {
    let entry = |source: &str, mirrors: &str| format!("imageMirrors=[{{source: '{source}', mirrors: [{mirrors}]}}]");
    let (source, mirror) = ("imageMirrors[0].source", "imageMirrors[0].mirrors[0]");
    refused(&[
        (&entry("https://quay.io/", "a.b"), source, "must not have a scheme\n    write 'quay.io'"),
        (&entry("quay.io/a:latest", "a.b"), source, "must not have a tag"),
        (&entry("quay.io/a@sha256:0", "a.b"), source, "must not have a digest"),
        (&entry("", "a.b"), source, "must begin with the host"),
        (&entry("quay.io:0", "a.b"), source, "must begin with the host"),
        (&entry("quay.io:x", "a.b"), source, "must begin with the host"),
        (&entry("quay.io/A", "a.b"), source, "lower case letters"),
        (&entry("quay.io/", "a.b"), source, "lower case letters"),
        (&entry("quay.io", ""), "imageMirrors[0].mirrors", "must name at least one mirror"),
        (&entry("quay.io", "quay.io"), mirror, "must not be the source itself"),
        (&entry("quay.io", "'a b'"), mirror, "must begin with the host"),
        (
            "imageMirrors=[{source: a, mirrors: [b]}, {source: a, mirrors: [c]}]",
            "imageMirrors[1].source",
            "must stand only once",
        ),
        ("binaryMirror=ftp://a/b", "binaryMirror", "http:// or https://"),
        ("binaryMirror=a/b", "binaryMirror", "must be a URL"),
        ("binaryMirror=https://a/b?c", "binaryMirror", "must be the URL of a directory"),
    ]);
    welcome(&[
        &entry("quay.io/openshift-release-dev/ocp_v4.0", "'registry.example.com:5000/a/b', r"),
        "binaryMirror=http://10.0.0.1:8080/k8s/",
    ]);
}

#[test]
fn trust_bundles() {
    let bundle = |text: &str| format!("additionalTrustBundle={text}");
    let ca = include_str!("../fixtures/ca.pem");
    let leaf = include_str!("../fixtures/leaf.pem");
    let lines: Vec<&str> = ca.split_inclusive('\n').collect();
    let cut = [&lines[..3], &lines[4..]].concat().concat();
    let unclosed = lines[..lines.len() - 1].concat();
    refused(&[
        (&bundle("nothing"), "additionalTrustBundle", "holds no certificate"),
        (&bundle(&cut), "additionalTrustBundle", "block 1 is damaged"),
        (&bundle(&unclosed), "additionalTrustBundle", "damaged PEM block"),
        (&bundle("-----BEGIN EC PRIVATE KEY-----\nhunter2"), "additionalTrustBundle", "holds a private key"),
        (&bundle(&ca.replace("CERTIFICATE", "PUBLIC KEY")), "additionalTrustBundle", "block 1 is a PUBLIC KEY"),
        (&bundle(&format!("{ca}{cut}")), "additionalTrustBundle", "block 2 is damaged"),
    ]);
    assert_eq!(accepted(&[&bundle(&format!("# ours\n{ca}{ca}"))]).notices, []);
    assert_notice(&[&bundle(leaf)], "additionalTrustBundle", "is not that of an authority");
}
