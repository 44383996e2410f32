//! Takes secrets out of texts: those that are known, and what looks like one.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use landfall_platform::Environment;
use landfall_workdir::WorkDir;
use secrecy::{ExposeSecret as _, SecretString};

use super::documents::Found;

/// Stands where a secret was.
const REMOVED: &str = "[secret]";
/// Shorter texts are not secrets, and would be found everywhere.
const SHORTEST: usize = 6;
/// Shorter parts of an encoded secret are found in other texts too.
const SHORTEST_PART: usize = 8;

/// Takes secrets out of texts.
pub(super) struct Scrub {
    known: AhoCorasick,
}

impl Scrub {
    /// Knows the secrets of an install directory and of the environment, and some more.
    pub(super) fn new(dir: &WorkDir, environment: &Environment, more: &[SecretString]) -> anyhow::Result<Self> {
        let mut found = Found::default();
        found.directory(dir.root());
        found.environment(environment);
        for secret in more {
            found.add(secret.expose_secret());
        }
        Self::knowing(found.secrets)
    }

    fn knowing(secrets: impl IntoIterator<Item = String>) -> anyhow::Result<Self> {
        let mut known = BTreeSet::new();
        for secret in secrets.into_iter().filter(|secret| secret.len() >= SHORTEST) {
            known.extend(encoded(&secret));
            known.insert(STANDARD.encode(&secret).trim_end_matches('=').to_owned());
            // As logs in JSON and URLs write it.
            let quoted = serde_json::Value::from(secret.as_str()).to_string();
            known.insert(quoted[1..quoted.len() - 1].to_owned());
            known.insert(url::form_urlencoded::byte_serialize(secret.as_bytes()).collect());
            known.insert(secret);
        }
        // A secret that is part of another goes after it.
        let known = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(known)?;
        Ok(Self { known })
    }

    /// A text without secrets.
    pub(super) fn clean(&self, contents: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(contents);
        let mut without = String::with_capacity(text.len());
        self.known.replace_all_with(&text, &mut without, |_, _, out| {
            out.push_str(REMOVED);
            true
        });
        let mut cleaned = String::with_capacity(without.len());
        let mut in_key = false;
        for line in without.split_inclusive('\n') {
            let begins = line.contains("-----BEGIN") && line.contains("PRIVATE KEY-----");
            in_key |= begins;
            match (in_key, begins) {
                (true, true) => cleaned.extend([REMOVED, "\n"]),
                (true, false) => {}
                (false, _) => clean_words(&without_passwords(line), &mut cleaned),
            }
            in_key &= !line.contains("-----END");
        }
        cleaned.into_bytes()
    }
}

/// A secret as base64 shows it inside a longer text, at each of the three places where it may begin in a group.
fn encoded(secret: &str) -> impl Iterator<Item = String> {
    (0..3).filter_map(|before| {
        let text = STANDARD.encode([vec![0; before], secret.as_bytes().to_vec()].concat());
        // Characters that depend on the neighbours too.
        let start = [0, 2, 3][before];
        let bits = (before + secret.len()) * 8;
        text.get(start..bits / 6).filter(|part| part.len() >= SHORTEST_PART).map(str::to_owned)
    })
}

/// A line whose URLs have no passwords.
fn without_passwords(line: &str) -> String {
    let mut cleaned = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        cleaned.push_str(before);
        let end =
            after.find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | ','));
        let (authority, tail) = after.split_at(end.unwrap_or(after.len()));
        match authority.rsplit_once('@') {
            Some((credentials, host)) if credentials.contains(':') => cleaned.extend([REMOVED, "@", host]),
            _ => cleaned.push_str(authority),
        }
        rest = tail;
    }
    cleaned.push_str(rest);
    cleaned
}

/// Words before a secret: flags, kinds of authorization, and fields of signed URLs, which let their holder in.
const ANNOUNCING: [&str; 8] = [
    "--token",
    "--certificate-key",
    "Bearer",
    "bearer",
    "X-Amz-Signature",
    "X-Amz-Security-Token",
    "X-Auth-Token",
    "X-API-Session",
];

/// Takes out what machines print and nobody here knows: tokens that kubeadm mints, keys for certificates, bearer tokens.
fn clean_words(line: &str, cleaned: &mut String) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '~' | '+' | '/');
    let mut rest = line;
    let mut before = "";
    while let Some(start) = rest.find(is_word) {
        let (gap, tail) = rest.split_at(start);
        let (word, tail) = tail.split_at(tail.find(|c| !is_word(c)).unwrap_or(tail.len()));
        cleaned.push_str(gap);
        let hidden = is_bootstrap_token(word)
            || ANNOUNCING.contains(&before)
            || (before == "Basic" && word.len() >= SHORTEST_PART);
        cleaned.push_str(if hidden { REMOVED } else { word });
        (before, rest) = (word, tail);
    }
    cleaned.push_str(rest);
}

/// Six characters, a dot, sixteen characters.
fn is_bootstrap_token(word: &str) -> bool {
    let part = |text: &str, length| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    word.split_once('.').is_some_and(|(id, secret)| part(id, 6) && part(secret, 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> String {
        let scrub = Scrub::knowing(["hunter2-secret", "hunter2-secret-too", "x"].map(str::to_owned)).unwrap();
        String::from_utf8(scrub.clean(text.as_bytes())).unwrap()
    }

    #[test]
    fn known_secrets_go_also_in_base64() {
        assert_eq!(clean("password: hunter2-secret, x\n"), "password: [secret], x\n");
        assert_eq!(clean("a hunter2-secret-too b"), "a [secret] b");
        assert_eq!(clean(&STANDARD.encode("hunter2-secret")), "[secret]=");
        for before in ["a", "ab", "abc"] {
            let text = clean(&STANDARD.encode(format!("{before}hunter2-secret and more")));
            assert!(text.contains("[secret]"), "{text}");
        }
    }

    #[test]
    fn what_machines_print_goes() {
        let join = "kubeadm join api-int:6443 --token abcdef.0123456789abcdef --certificate-key 00ff11";
        assert_eq!(clean(join), "kubeadm join api-int:6443 --token [secret] --certificate-key [secret]");
        assert_eq!(clean("token 'rfbxw2.v6rdk4a0sl2a8h5k'."), "token '[secret]'.");
        assert_eq!(clean("Authorization: Bearer eyJ.a-b_c\n"), "Authorization: Bearer [secret]\n");
        assert_eq!(clean("via http://eve:pass@proxy:3128/a@b"), "via http://[secret]@proxy:3128/a@b");
        assert_eq!(
            clean("https://b/o?X-Amz-Signature=00ff&X-Amz-Date=1"),
            "https://b/o?X-Amz-Signature=[secret]&X-Amz-Date=1"
        );
        assert_eq!(clean("Basic ZXZlOnBhc3M="), "Basic [secret]=");
        let key = "before\n-----BEGIN EC PRIVATE KEY-----\nMIGH\nAgEA\n-----END EC PRIVATE KEY-----\nafter\n";
        assert_eq!(clean(key), "before\n[secret]\nafter\n");
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        let text = "2026-11-15 kubelet[7]: node demo-x7k2p-master-0 v1.36.4 at 192.0.2.7: \u{fc} {\"a\": [1]}\n\n";
        assert_eq!(clean(text), text);
        let public = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        assert_eq!(clean(public), public);
    }
}
