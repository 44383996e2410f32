//! Hardware addresses of network adapters.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::id::PartitionId;

/// A hardware address, as the platform writes it: 12 digits in upper case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mac(String);

/// Why a text is not a hardware address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a hardware address: 12 hexadecimal digits, the second of them even")]
pub struct MacError(String);

impl Mac {
    /// The address of a partition's adapter of a number. It is always the same, so that the adapter is found again.
    pub fn of(partition: &PartitionId, number: usize) -> Self {
        let digest = Sha256::digest(format!("{partition}/nic/{number}"));
        // Locally administered, and of one adapter.
        let first = digest[0] & 0xfc | 0x02;
        let rest = u64::from_be_bytes([0, 0, 0, digest[1], digest[2], digest[3], digest[4], digest[5]]);
        Self(format!("{first:02X}{rest:010X}"))
    }

    /// The 12 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As everybody else writes it: `fa:16:3e:00:00:01`.
    pub fn with_colons(&self) -> String {
        let digits = self.0.to_lowercase();
        let pairs: Vec<&str> = (0..6).map(|pair| &digits[pair * 2..pair * 2 + 2]).collect();
        pairs.join(":")
    }
}

impl FromStr for Mac {
    type Err = MacError;

    fn from_str(text: &str) -> Result<Self, MacError> {
        let digits: String = text.chars().filter(|c| !matches!(c, ':' | '-')).collect::<String>().to_uppercase();
        let sound = digits.len() == 12
            && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
            && u8::from_str_radix(&digits[..2], 16).is_ok_and(|first| first & 1 == 0);
        if sound { Ok(Self(digits)) } else { Err(MacError(text.to_owned())) }
    }
}

impl TryFrom<String> for Mac {
    type Error = MacError;

    fn try_from(text: String) -> Result<Self, MacError> {
        text.parse()
    }
}

impl From<Mac> for String {
    fn from(mac: Mac) -> Self {
        mac.0
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_colons())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_any_spelling() {
        let mac: Mac = "fa:16:3e:00:0a:01".parse().unwrap();
        assert_eq!(mac.as_str(), "FA163E000A01");
        assert_eq!(mac.with_colons(), "fa:16:3e:00:0a:01");
        for text in ["", "fa163e", "01:00:00:00:00:00", "zz:16:3e:00:0a:01"] {
            assert!(text.parse::<Mac>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_adapter_has_the_same_address_each_time() {
        let id = PartitionId::from(uuid::Uuid::from_u128(7));
        assert_eq!(Mac::of(&id, 0), Mac::of(&id, 0));
        assert_ne!(Mac::of(&id, 0), Mac::of(&id, 1));
        assert_eq!(Mac::of(&id, 0).as_str().parse(), Ok(Mac::of(&id, 0)));
    }
}
