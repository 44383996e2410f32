//! Random texts that open doors.

use std::fmt;

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::hex;

/// A random text that opens a door. Never printed by `Debug`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// 256 bits in hexadecimal, for the config server.
    pub(super) fn machine(rng: &mut impl Rng) -> Self {
        Self(hex::encode(&rng.random::<[u8; 32]>()))
    }

    /// In the form that kubeadm asks for: an id of 6 and a secret of 16 lower case letters and digits.
    pub fn bootstrap(rng: &mut impl Rng) -> Self {
        const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut text = |length| -> String {
            (0..length).map(|_| char::from(ALPHABET[rng.random_range(0..ALPHABET.len())])).collect()
        };
        Self(format!("{}.{}", text(6), text(16)))
    }

    /// An AES-256 key in hexadecimal, as `kubeadm certs certificate-key` prints it.
    pub(super) fn certificate_key(rng: &mut impl Rng) -> Self {
        Self::machine(rng)
    }

    /// The text, for the file that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
