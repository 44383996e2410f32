//! Who may log in and pull images.

use super::{refused, welcome};
use crate::support::{accepted, assert_notice, problems};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINeH6UHsSmGfDr5YbJqTmrHIEAG+rRzm9Nt1iZcLGnbB";

#[test]
fn ssh_keys() {
    let broken = format!("sshKey={}", &KEY[..40]);
    let second = format!("sshKey={KEY}\nnonsense");
    refused(&[
        ("sshKey=nonsense", "sshKey", "('nonsense') has something that is not an SSH public key"),
        ("sshKey=ssh-rsa AAAA", "sshKey", "not an SSH public key"),
        (&broken, "sshKey", "not an SSH public key"),
        (&second, "sshKey", "has something in line 2 that is not an SSH public key"),
        ("sshKey=# only a comment", "sshKey", "holds no key"),
        (
            "sshKey=-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2",
            "sshKey",
            "is a private key, which must never leave your machine",
        ),
        ("sshKey=-----BEGIN RSA PRIVATE KEY-----\nhunter2", "sshKey", "is a private key"),
    ]);
    let shown = problems(&["sshKey=-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2"])[0].to_string();
    assert!(!shown.contains("hunter2"));
    welcome(&[&format!("sshKey=# laptop\n\n{KEY} me@here there\n")]);
    assert_notice(&[&format!("sshKey={KEY} a\n{KEY} b")], "sshKey", "has the same key twice in line 2");
    assert_notice(&["sshKey="], "sshKey", "nobody can log in");
}

#[test]
fn pull_secrets() {
    refused(&[
        ("distribution=openshift", "pullSecret", "is missing: distribution 'openshift' needs it"),
        ("distribution=okd", "pullSecret", "is missing: distribution 'okd' needs it"),
        ("pullSecret=x", "pullSecret", "must be JSON: wrong at line 1, column 1"),
        ("pullSecret={}", "pullSecret", "must have a mapping 'auths'"),
        ("pullSecret={\"auths\":[]}", "pullSecret", "must have a mapping 'auths'"),
        ("pullSecret={\"auths\":{}}", "pullSecret", "for at least one registry"),
        ("pullSecret={\"auths\":{\"quay.io\":{}}}", "pullSecret", "'auth' or 'credsStore' for registry 'quay.io'"),
        ("pullSecret={\"auths\":{\"quay.io\":{\"auth\":\"\"}}}", "pullSecret", "'auth' or 'credsStore'"),
    ]);
    let secret = "pullSecret={\"auths\":{\"quay.io\":{\"auth\":\"eDp5\"},\"b\":{\"credsStore\":\"x\"}}}";
    welcome(&[secret]);
    accepted(&[secret, "distribution=okd"]);
}
