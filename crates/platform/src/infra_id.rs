//! The infra id: the mark that everything of one cluster carries.

use std::{fmt, str::FromStr};

use rand::Rng;
use serde::{Deserialize, Serialize};

/// Kubernetes' alphabet for generated names: no vowels, so no words, and no characters that look alike.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;
const NAME_LENGTH: usize = 21;

/// The cluster's name and a random suffix, for example `demo-x7k2p`.
///
/// It is minted once per cluster and never changes: objects on the platform are found again and removed by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InfraId(String);

/// Why a text is not an infra id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not an infra id: lower case letters, digits and hyphens, at most 27 characters, beginning with a letter or digit"
)]
pub struct InfraIdError(String);

impl InfraId {
    /// Mints the id of a new cluster.
    pub fn mint(cluster_name: &str, rng: &mut impl Rng) -> Self {
        let mut name = String::with_capacity(NAME_LENGTH);
        for c in cluster_name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }) {
            if c != '-' || !name.ends_with('-') && !name.is_empty() {
                name.push(c);
            }
            if name.len() == NAME_LENGTH {
                break;
            }
        }
        let suffix: String =
            (0..SUFFIX_LENGTH).map(|_| char::from(ALPHABET[rng.random_range(0..ALPHABET.len())])).collect();
        match name.trim_end_matches('-') {
            "" => Self(suffix),
            name => Self(format!("{name}-{suffix}")),
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for InfraId {
    type Err = InfraIdError;

    fn from_str(text: &str) -> Result<Self, InfraIdError> {
        let well_formed = text.len() <= NAME_LENGTH + 1 + SUFFIX_LENGTH
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if well_formed { Ok(Self(text.to_owned())) } else { Err(InfraIdError(text.to_owned())) }
    }
}

impl TryFrom<String> for InfraId {
    type Error = InfraIdError;

    fn try_from(text: String) -> Result<Self, InfraIdError> {
        text.parse()
    }
}

impl From<InfraId> for String {
    fn from(id: InfraId) -> Self {
        id.0
    }
}

impl fmt::Display for InfraId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn mint(name: &str) -> InfraId {
        InfraId::mint(name, &mut ChaCha8Rng::seed_from_u64(7))
    }

    #[test]
    fn keeps_the_name_readable() {
        assert!(mint("demo").as_str().starts_with("demo-"));
        assert!(mint("a..b").as_str().starts_with("a-b-"));
        assert_eq!(mint("abcdefghijklmnopqrst-uvwxyz").as_str().len(), 20 + 1 + 5);
    }

    #[test]
    fn refuses_what_it_would_never_mint() {
        for text in ["", "-a", "Demo-x7k2p", "demo_x", "a/b", "abcdefghijklmnopqrstuvwxyz01"] {
            assert!(text.parse::<InfraId>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_minted_id_is_read_back(name in "\\PC{0,60}", seed: u64) {
            let id = InfraId::mint(&name, &mut ChaCha8Rng::seed_from_u64(seed));
            prop_assert_eq!(id.as_str().parse::<InfraId>(), Ok(id.clone()));
        }
    }
}
