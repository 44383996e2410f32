//! Credentials of machines that have no certificate yet: what a machine shows the config server when it boots.
//!
//! Every role has a root, which is random and in no machine's user data. The credential of a machine is made from the root and the machine's identity,
//! so it opens one config. It reads `<name>.<proof>` for a machine that a user makes, `<name>~<seconds>.<proof>` for one that an installer's run makes which
//! began at that time (a machine that is made again gets another one), and `<name>/<uid>.<proof>` for one that a machine controller makes from
//! an object with that uid.

use std::fmt;

use hmac::{Hmac, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

/// Where a worker finds its credential, with which it asks for newer join material until it has joined.
pub const CREDENTIAL_FILE: &str = "/etc/landfall/credential";
/// Key of a Secret with user data that needs a credential: the name of the Secret with the root.
pub const IDENTITY_SECRET: &str = "identitySecret";
/// Keys of that Secret: the role, and the root.
pub const IDENTITY_ROLE: &str = "role";
/// See [`IDENTITY_ROLE`].
pub const IDENTITY_ROOT: &str = "root";

/// For whom a credential is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A machine.
    Machine {
        /// Name of the machine, which is that of its node.
        name: String,
        /// Who made it.
        maker: Maker,
    },
    /// The installer, which asks the bootstrap machine for its progress.
    Installer,
}

/// Who made a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Maker {
    /// A user.
    User,
    /// A run of the installer that began so many seconds after the epoch.
    Run(u64),
    /// A machine controller, from the object with this uid.
    Object(String),
}

/// Text of the installer's subject. No machine can have this name.
const INSTALLER: &str = "/installer";

/// Credential as a machine shows it, with the proof not verified yet.
pub struct Credential {
    subject: Subject,
    proof: [u8; 32],
}

impl Subject {
    /// Returns the subject of a machine that a user makes.
    pub fn named(name: impl Into<String>) -> Self {
        Self::Machine { name: name.into(), maker: Maker::User }
    }

    /// Returns the subject of a machine that a run of the installer makes.
    pub fn of_run(name: impl Into<String>, began: u64) -> Self {
        Self::Machine { name: name.into(), maker: Maker::Run(began) }
    }

    /// Returns the subject of a machine that is made from an object.
    pub fn of_object(name: impl Into<String>, uid: impl Into<String>) -> Self {
        Self::Machine { name: name.into(), maker: Maker::Object(uid.into()) }
    }

    fn parse(text: &str) -> Option<Self> {
        if text == INSTALLER {
            return Some(Self::Installer);
        }
        let (name, maker) = match (text.split_once('/'), text.split_once('~')) {
            (Some((name, uid)), _) => (name, Maker::Object(uid.to_owned())),
            (None, Some((name, began))) => (name, Maker::Run(began.parse().ok()?)),
            (None, None) => (text, Maker::User),
        };
        // They become parts of paths of the API.
        let is_part = |part: &str, also: &[u8]| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || also.contains(&byte))
        };
        let is_plain = is_part(name, b"-.") && !matches!(&maker, Maker::Object(uid) if !is_part(uid, b"-"));
        is_plain.then(|| Self::Machine { name: name.to_owned(), maker })
    }

    /// Returns the credential of this subject under a root.
    pub fn credential(&self, root: &str) -> String {
        let proof = self.mac(root).finalize().into_bytes();
        format!("{self}.{proof:x}")
    }

    fn mac(&self, root: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(root.as_bytes()).expect("a key of any length will do");
        mac.update(self.to_string().as_bytes());
        mac
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine { name, maker: Maker::User } => f.write_str(name),
            Self::Machine { name, maker: Maker::Run(began) } => write!(f, "{name}~{began}"),
            Self::Machine { name, maker: Maker::Object(uid) } => write!(f, "{name}/{uid}"),
            Self::Installer => f.write_str(INSTALLER),
        }
    }
}

impl Credential {
    /// Reads a credential. Returns none for a text that cannot be one.
    pub fn parse(text: &str) -> Option<Self> {
        let (subject, digits) = text.rsplit_once('.')?;
        let digits = digits.as_bytes();
        let mut proof = [0; 32];
        if digits.len() != 2 * proof.len() {
            return None;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        for (byte, pair) in proof.iter_mut().zip(digits.chunks(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self { subject: Subject::parse(subject)?, proof })
    }

    /// For whom it claims to be.
    pub const fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Returns true if it was made from this root. The time that it takes does not tell how much of it is right.
    pub fn is_of(&self, root: &str) -> bool {
        self.subject.mac(root).verify_slice(&self.proof).is_ok()
    }
}

/// The proof is a secret.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential({})", self.subject)
    }
}

/// Adds the credential of one machine to the Ignition config that it is started with: to the request for its role's config, if it makes
/// one, and for a worker as a file.
///
/// A config of one machine's own gets the credential in the place of any that it has.
pub fn with_credential(config: &[u8], role: &str, credential: &str) -> Result<Vec<u8>, serde_json::Error> {
    let mut config: Value = serde_json::from_slice(config)?;
    let served = format!("/config/{role}");
    let merges = config.pointer_mut("/ignition/config/merge").and_then(Value::as_array_mut);
    for reference in merges.into_iter().flatten() {
        if reference["source"].as_str().is_some_and(|source| source.ends_with(&served)) {
            reference["httpHeaders"] = json!([{ "name": "Authorization", "value": format!("Bearer {credential}") }]);
        }
    }
    if role == "worker" && config.is_object() {
        let file = json!({
            "path": CREDENTIAL_FILE, "mode": 0o600, "overwrite": true,
            "contents": { "source": format!("data:,{credential}") },
        });
        // A config may have none of these, or null in their place.
        for (parent, empty) in [("/storage", json!({})), ("/storage/files", json!([]))] {
            let (above, key) = parent.rsplit_once('/').unwrap_or_default();
            if let Some(above) = config.pointer_mut(above)
                && above[key].is_null()
            {
                above[key] = empty;
            }
        }
        if let Some(files) = config["storage"]["files"].as_array_mut() {
            files.retain(|file| file["path"] != CREDENTIAL_FILE);
            files.push(file);
        }
    }
    Ok(config.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_of_one_machine_and_one_root() {
        let subjects = [
            Subject::named("demo-m0"),
            Subject::named("w0.example"),
            Subject::of_object("w0", "9a-1"),
            Subject::of_run("m0", 1_767_225_600),
            Subject::Installer,
        ];
        for subject in subjects {
            let text = subject.credential("root");
            assert_eq!(text, subject.credential("root"), "a resumed run makes the same one");
            let credential = Credential::parse(&text).unwrap();
            assert_eq!(credential.subject(), &subject);
            assert!(credential.is_of("root") && !credential.is_of("other") && !credential.is_of(""));
        }
        // echo -n demo-m0 | openssl dgst -sha256 -hmac root
        let known = "demo-m0.982e9b3ccf36dd85c2b9633314dc48dbd7ef43af249653053f2edd3c31fd054e";
        assert_eq!(Subject::named("demo-m0").credential("root"), known);
    }

    #[test]
    fn a_proof_for_another_subject_is_none() {
        let text = Subject::named("m0").credential("root");
        for forged in [
            text.replacen("m0", "m1", 1),
            text.replacen("m0", "m0/1", 1),
            text.replacen("m0", "m0~1", 1),
            text.replacen("m0", INSTALLER, 1),
        ] {
            assert!(!Credential::parse(&forged).unwrap().is_of("root"), "{forged}");
        }
        let proof = "0".repeat(64);
        for text in [
            "",
            "secret",
            "m0.12",
            ".",
            &format!(".{proof}"),
            &format!("a/b/c.{proof}"),
            &format!("a~b.{proof}"),
            &format!("a b.{proof}"),
        ] {
            assert!(Credential::parse(text).is_none(), "{text}");
        }
        assert!(Credential::parse(&format!("m0.{}", "é".repeat(32))).is_none());
    }

    #[test]
    fn user_data_gets_the_credential_of_its_machine() {
        let pointer = json!({ "ignition": { "version": "3.3.0", "config": { "merge": [
            { "source": "https://192.0.2.5:22623/config/worker" }, { "source": "https://example.com/other" },
        ] } } })
        .to_string();
        let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let once = with_credential(pointer.as_bytes(), "worker", "w0.12").unwrap();
        let config = read(&with_credential(&once, "worker", "w1.34").unwrap());
        let merge = &config["ignition"]["config"]["merge"];
        assert_eq!(merge[0]["httpHeaders"], json!([{ "name": "Authorization", "value": "Bearer w1.34" }]));
        assert!(merge[1]["httpHeaders"].is_null(), "{merge}");
        let files = config["storage"]["files"].as_array().unwrap();
        assert_eq!((files.len(), &files[0]["contents"]["source"]), (1, &json!("data:,w1.34")));
        let master = read(&with_credential(pointer.as_bytes(), "master", "m0.12").unwrap());
        assert_eq!(master, read(pointer.as_bytes()), "it asks for the config of another role");
        assert!(with_credential(b"{", "worker", "w0.12").is_err());
    }
}
