//! Finds the secrets in documents: install-configs, manifests, Ignition configs, kubeconfigs, files of credentials. Documents lie in each other (a
//! Secret holds an Ignition config, which holds a kubeconfig), so each text is looked at again.

use std::{collections::BTreeSet, io::Read as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use data_url::DataUrl;
use flate2::read::GzDecoder;
use serde_json::Value;
use url::Url;

/// Shorter texts are not secrets, and would be found everywhere.
const SHORTEST: usize = 6;
/// How deep documents lie in each other.
const DEEPEST: usize = 8;
/// Most that a compressed file may hold.
const LARGEST: u64 = 64 << 20;
/// Ends of the names of fields that hold a secret, without what separates words.
const SECRET: [&str; 17] = [
    "password",
    "passwd",
    "passwordhash",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "secretkey",
    "secretaccesskey",
    "privatekey",
    "keydata",
    "keyraw",
    "certificatekey",
    "pullsecret",
    "encryptionkey",
    "authkey",
    "psk",
];
/// Fields of Secrets that say where a platform is, or which machines they are for: that is in every log and no secret.
const PUBLIC: [&str; 12] = [
    "url",
    "username",
    "user",
    "cafile",
    "cabundle",
    "insecure",
    "region",
    "zone",
    "project",
    "disableuserdata",
    "identitysecret",
    "role",
];

/// Secrets, and files that documents name as such.
#[derive(Default)]
pub(super) struct Found {
    pub(super) secrets: BTreeSet<String>,
    /// Files that hold nothing but a secret, as the documents write them.
    pub(super) files: BTreeSet<String>,
}

impl Found {
    /// Takes a text that is a secret as a whole.
    pub(super) fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() >= SHORTEST {
            self.secrets.insert(secret.to_owned());
        }
    }

    /// Takes every text of a document whose purpose is to hold secrets.
    pub(super) fn add_all(&mut self, value: &Value) {
        match value {
            // The cluster's id is public.
            Value::Object(fields) => {
                fields.iter().filter(|(name, _)| *name != "clusterId").for_each(|(_, value)| self.add_all(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.add_all(item)),
            Value::String(text) => self.add(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Looks through a document of any kind.
    pub(super) fn look(&mut self, text: &str) {
        self.text(text, 0);
    }

    fn text(&mut self, text: &str, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        self.keys(text);
        self.urls(text);
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            return self.value(&value, "", depth);
        }
        let documents = serde_saphyr::from_multiple::<Value>(text).unwrap_or_default();
        documents.iter().filter(|document| !document.is_string()).for_each(|value| self.value(value, "", depth));
        self.assignments(text);
    }

    fn value(&mut self, value: &Value, name: &str, depth: usize) {
        match value {
            Value::Object(fields) => {
                let is_secret = value["kind"] == "Secret";
                let own = fields.get("name").and_then(Value::as_str).unwrap_or_default();
                for (field, value) in fields {
                    match (field.as_str(), value) {
                        ("data", Value::Object(entries)) if is_secret => self.entries(entries, true, depth),
                        ("stringData", Value::Object(entries)) if is_secret => self.entries(entries, false, depth),
                        // A header, or a variable.
                        ("value", Value::String(text)) if own.eq_ignore_ascii_case("authorization") => {
                            self.add(text.split_once(' ').map_or(text.as_str(), |(_, credentials)| credentials));
                        }
                        ("value", Value::String(text)) if is_secret_name(own) => self.add(text),
                        _ => self.value(value, field, depth),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.value(item, name, depth)),
            Value::String(text) => self.field(name, text, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Entries of a Secret.
    fn entries(&mut self, entries: &serde_json::Map<String, Value>, is_encoded: bool, depth: usize) {
        for (name, value) in entries {
            let Some(text) = value.as_str() else { continue };
            let decoded = if is_encoded { decoded(text) } else { Some(text.to_owned()) };
            let Some(decoded) = decoded else {
                self.add(text);
                continue;
            };
            let is_document = decoded.trim_start().starts_with(['{', '[']) || decoded.trim().contains('\n');
            if is_document {
                self.text(&decoded, depth + 1);
            } else if !PUBLIC.iter().any(|public| words(name).ends_with(public)) {
                self.add(&decoded);
            }
            self.urls(&decoded);
        }
    }

    fn field(&mut self, name: &str, text: &str, depth: usize) {
        if is_secret_name(name) {
            self.add(text);
        }
        if names_secret_file(name) {
            self.files.insert(text.to_owned());
        }
        if name == "auth"
            && let Some(pair) = decoded(text)
        {
            // Credentials of a registry.
            self.add(text);
            self.add(pair.split_once(':').map_or(pair.as_str(), |(_, password)| password));
        }
        if text.starts_with("data:") {
            if let Some(contents) = contents(text) {
                self.holder_of_keys(text.rsplit(',').next().unwrap_or_default(), &contents);
                self.text(&contents, depth + 1);
            }
        } else if text.trim_start().starts_with(['{', '[']) || text.contains('\n') {
            self.text(text, depth + 1);
        } else if text.len() >= 64
            && let Some(contents) = decoded(text)
        {
            self.holder_of_keys(text, &contents);
            self.text(&contents, depth + 1);
        } else {
            self.urls(text);
        }
    }

    /// Takes an encoded text if there is a private key in it.
    fn holder_of_keys(&mut self, encoded: &str, contents: &str) {
        if contents.contains("PRIVATE KEY-----") {
            self.add(encoded);
        }
    }

    /// Takes the lines of private keys.
    fn keys(&mut self, text: &str) {
        let mut in_key = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with("-----") {
                in_key = line.starts_with("-----BEGIN") && line.ends_with("PRIVATE KEY-----");
            } else if in_key {
                self.add(line);
            }
        }
    }

    /// Takes the passwords in URLs.
    fn urls(&mut self, text: &str) {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`');
        for word in text.split(is_end).filter(|word| word.contains("://") && word.contains('@')) {
            let start = word.find("://").unwrap_or_default();
            let start = word[..start].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
            let Ok(url) = Url::parse(&word[start..]) else { continue };
            if let Some(password) = url.password() {
                self.add(password);
                self.add(&percent_decoded(password));
                self.add(&STANDARD.encode(format!(
                    "{}:{}",
                    percent_decoded(url.username()),
                    percent_decoded(password)
                )));
            }
        }
    }

    /// Takes the values of lines like `password = …`, as many programs keep them.
    fn assignments(&mut self, text: &str) {
        for line in text.lines() {
            let Some((name, value)) = line.split_once(['=', ':']) else { continue };
            let value = value.trim().trim_matches(['"', '\'']);
            let is_literal = !value.contains(|c: char| c.is_whitespace() || c == '$');
            let name = name.trim().trim_start_matches("export ");
            if is_literal && is_secret_name(name) {
                self.add(value);
            }
        }
    }
}

/// A name's letters and digits.
fn words(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

pub(super) fn is_secret_name(name: &str) -> bool {
    let name = words(name);
    SECRET.iter().any(|end| name.ends_with(end))
}

fn names_secret_file(name: &str) -> bool {
    let name = words(name);
    name.strip_suffix("file").is_some_and(|rest| rest == "key" || is_secret_name(rest))
}

fn decoded(text: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(text).ok()?).ok()
}

/// The contents of a data URL, which Ignition may have compressed.
fn contents(url: &str) -> Option<String> {
    let (bytes, _) = DataUrl::process(url).ok()?.decode_to_vec().ok()?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return String::from_utf8(bytes).ok();
    }
    let mut text = String::new();
    GzDecoder::new(bytes.as_slice()).take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The text of a part of a URL.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = tail.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut found = Found::default();
        found.look(text);
        found.secrets.into_iter().collect()
    }

    #[test]
    fn fields_are_known_by_their_names() {
        let yaml =
            "a: {adminPassword: hunter2-a, token: hunter2-b, tokenFile: f.txt, name: harmless, api_key: hunter2-c}";
        assert_eq!(found(yaml), ["hunter2-a", "hunter2-b", "hunter2-c"]);
        let ini = "[default]\naws_access_key_id = AKIA1234\naws_secret_access_key = hunter2-d\n";
        assert_eq!(found(ini), ["hunter2-d"]);
        assert_eq!(found("export METAL_AUTH_TOKEN='hunter2-e'\nTOKEN=$(cat token)\n"), ["hunter2-e"]);
        let mut files = Found::default();
        files.look("dns: {rfc2136: {keyFile: tsig.key}, cloudflare: {tokenFile: /etc/token}}");
        assert_eq!(files.files.into_iter().collect::<Vec<_>>(), ["/etc/token", "tsig.key"]);
    }

    #[test]
    fn proxies_and_registries_have_passwords() {
        let proxy = found("proxy: {httpsProxy: 'http://eve:p%40ssw0rd@proxy:3128', noProxy: .example.com}");
        assert!(proxy.contains(&"p%40ssw0rd".to_owned()) && proxy.contains(&"p@ssw0rd".to_owned()), "{proxy:?}");
        let auth = STANDARD.encode("eve:hunter2-f");
        let pull =
            found(&json!({ "pullSecret": json!({ "auths": { "r": { "auth": auth } } }).to_string() }).to_string());
        assert!(pull.contains(&"hunter2-f".to_owned()) && pull.contains(&auth), "{pull:?}");
    }

    #[test]
    fn documents_lie_in_each_other() {
        let key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n-----END PRIVATE KEY-----\n";
        let kubeconfig = format!("users: [{{user: {{client-key-data: {}}}}}]", STANDARD.encode(key));
        let ignition = json!({
            "ignition": { "config": { "merge": [{ "httpHeaders": [{ "name": "Authorization", "value": "Bearer hunter2-g" }] }] } },
            "storage": { "files": [{ "contents": { "source": format!("data:;base64,{}", STANDARD.encode(&kubeconfig)) } }] },
        });
        let secret = json!({ "kind": "Secret", "data": {
            "userData": STANDARD.encode(ignition.to_string()),
            "ovirt_url": STANDARD.encode("https://engine.example.com"),
            "ovirt_password": STANDARD.encode("hunter2-h"),
            "other": STANDARD.encode("hunter2-i"),
        } });
        let found = found(&format!("---\n{secret}\n"));
        for wanted in ["hunter2-g", "hunter2-h", "hunter2-i", "MIGHAgEA"] {
            assert!(found.contains(&wanted.to_owned()), "{wanted}: {found:?}");
        }
        assert!(found.contains(&STANDARD.encode(key)), "also as the kubeconfig has it: {found:?}");
        assert!(!found.iter().any(|secret| secret.contains("engine.example.com")), "{found:?}");
    }
}
