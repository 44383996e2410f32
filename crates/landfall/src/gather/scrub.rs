//! Takes secrets out of texts: those that are known, and what looks like one.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use landfall_workdir::WorkDir;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

/// Stands where a secret was.
const REMOVED: &str = "[secret]";
/// Shorter texts are not secrets, and would be found everywhere.
const SHORTEST: usize = 6;
/// Where the secrets of a cluster are.
const SECRETS: &str = ".landfall/secrets";

/// Takes secrets out of texts.
pub(super) struct Scrub {
    known: Vec<String>,
}

impl Scrub {
    /// Knows the secrets of an install directory, and some more.
    pub(super) fn new(dir: &WorkDir, more: &[SecretString]) -> anyhow::Result<Self> {
        let mut known: Vec<String> = more.iter().map(|secret| secret.expose_secret().to_owned()).collect();
        for (path, file) in dir.read_directory(SECRETS)?.iter() {
            let text = String::from_utf8_lossy(&file.contents);
            match path.rsplit_once('.').map(|(_, extension)| extension) {
                Some("json") => {
                    if let Ok(value) = serde_json::from_str(&text) {
                        collect(&value, &mut known);
                    }
                }
                Some("key") => known.extend(text.lines().filter(|line| !line.starts_with("-----")).map(str::to_owned)),
                _ => {}
            }
        }
        Ok(Self::knowing(known))
    }

    fn knowing(mut known: Vec<String>) -> Self {
        let encoded: Vec<_> =
            known.iter().map(|secret| STANDARD.encode(secret).trim_end_matches('=').to_owned()).collect();
        known.extend(encoded);
        known.retain(|secret| secret.len() >= SHORTEST);
        // A secret that is part of another goes after it.
        known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        known.dedup();
        Self { known }
    }

    /// A text without secrets.
    pub(super) fn clean(&self, contents: &[u8]) -> Vec<u8> {
        let mut text = String::from_utf8_lossy(contents).into_owned();
        for secret in &self.known {
            if text.contains(secret) {
                text = text.replace(secret, REMOVED);
            }
        }
        let mut cleaned = String::with_capacity(text.len());
        let mut in_key = false;
        for line in text.split_inclusive('\n') {
            let begins = line.contains("-----BEGIN") && line.contains("PRIVATE KEY-----");
            in_key |= begins;
            match (in_key, begins) {
                (true, true) => cleaned.extend([REMOVED, "\n"]),
                (true, false) => {}
                (false, _) => clean_words(line, &mut cleaned),
            }
            in_key &= !line.contains("-----END");
        }
        cleaned.into_bytes()
    }
}

fn collect(value: &Value, known: &mut Vec<String>) {
    match value {
        // The cluster's id is public.
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "clusterId").for_each(|(_, value)| collect(value, known));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, known)),
        Value::String(text) => known.push(text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Takes out what machines print and nobody here knows: tokens that kubeadm mints, keys for certificates, bearer tokens.
fn clean_words(line: &str, cleaned: &mut String) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '~' | '+' | '/');
    let mut rest = line;
    let mut before = "";
    while let Some(start) = rest.find(is_word) {
        let (gap, tail) = rest.split_at(start);
        let (word, tail) = tail.split_at(tail.find(|c| !is_word(c)).unwrap_or(tail.len()));
        cleaned.push_str(gap);
        let hidden =
            is_bootstrap_token(word) || matches!(before, "--token" | "--certificate-key" | "Bearer" | "bearer");
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
        let scrub = Scrub::knowing(vec!["hunter2-secret".to_owned(), "hunter2-secret-too".to_owned(), "x".to_owned()]);
        String::from_utf8(scrub.clean(text.as_bytes())).unwrap()
    }

    #[test]
    fn known_secrets_go_also_in_base64() {
        assert_eq!(clean("password: hunter2-secret, x\n"), "password: [secret], x\n");
        assert_eq!(clean("a hunter2-secret-too b"), "a [secret] b");
        assert_eq!(clean(&STANDARD.encode("hunter2-secret")), "[secret]=");
    }

    #[test]
    fn what_machines_print_goes() {
        let join = "kubeadm join api-int:6443 --token abcdef.0123456789abcdef --certificate-key 00ff11";
        assert_eq!(clean(join), "kubeadm join api-int:6443 --token [secret] --certificate-key [secret]");
        assert_eq!(clean("token 'rfbxw2.v6rdk4a0sl2a8h5k'."), "token '[secret]'.");
        assert_eq!(clean("Authorization: Bearer eyJ.a-b_c\n"), "Authorization: Bearer [secret]\n");
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
