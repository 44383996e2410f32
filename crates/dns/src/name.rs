//! Names, compared label by label.

use std::{fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Serialize};

const MAX_LENGTH: usize = 253;
const MAX_LABEL: usize = 63;

/// A domain name: lower case, without a dot at the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a domain name")]
pub struct NameError(String);

impl Name {
    /// The name as text, without a dot at the end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name with the dot at the end, as zone files and some APIs want it.
    pub fn absolute(&self) -> String {
        format!("{}.", self.0)
    }

    /// Whether the name is `ancestor` or lies below it. `ba.example.com` does not lie below `a.example.com`.
    pub fn is_in(&self, ancestor: &Self) -> bool {
        self.below(ancestor).is_some()
    }

    /// What stands before an ancestor: `api` of `api.demo.example.com` in `demo.example.com`, nothing for the ancestor itself.
    pub fn below(&self, ancestor: &Self) -> Option<&str> {
        match self.0.strip_suffix(&ancestor.0)? {
            "" => Some(""),
            rest => rest.strip_suffix('.'),
        }
    }

    /// The name with labels before it.
    pub fn child(&self, labels: &str) -> Result<Self, NameError> {
        format!("{labels}.{}", self.0).parse()
    }

    /// The name without its first label; none for a name of one label.
    pub fn parent(&self) -> Option<Self> {
        self.0.split_once('.').map(|(_, rest)| Self(rest.to_owned()))
    }

    /// Whether it stands for all names below the next label.
    pub fn is_wildcard(&self) -> bool {
        self.0.starts_with("*.")
    }

    /// A name to ask for: itself, or some name that the wildcard covers.
    #[must_use]
    pub fn example(&self) -> Self {
        match self.0.strip_prefix("*.") {
            Some(rest) => Self(format!("landfall-check.{rest}")),
            None => self.clone(),
        }
    }

    /// The name that leads from an address back to a name.
    pub fn reverse(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => {
                let [a, b, c, d] = address.octets();
                Self(format!("{d}.{c}.{b}.{a}.in-addr.arpa"))
            }
            IpAddr::V6(address) => {
                let nibbles = address.octets().into_iter().rev().flat_map(|byte| [byte & 0xf, byte >> 4]);
                let labels: Vec<String> = nibbles.map(|nibble| format!("{nibble:x}")).collect();
                Self(format!("{}.ip6.arpa", labels.join(".")))
            }
        }
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let well_formed = |(position, label): (usize, &str)| {
            (position == 0 && label == "*")
                || (1..=MAX_LABEL).contains(&label.len())
                    && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        };
        if name.len() <= MAX_LENGTH && name.split('.').enumerate().all(well_formed) {
            Ok(Self(name))
        } else {
            Err(NameError(text.to_owned()))
        }
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    #[test]
    fn borders_of_labels_are_exact() {
        let zone = name("a.example.com");
        assert_eq!(name("api.A.example.com.").below(&zone), Some("api"));
        assert_eq!(zone.below(&zone), Some(""));
        for other in ["ba.example.com", "api.ba.example.com", "example.com", "a.example.com.net", "com"] {
            assert!(!name(other).is_in(&zone), "{other}");
        }
    }

    #[test]
    fn what_is_not_a_name_is_refused() {
        for text in [
            "",
            ".",
            "a..b",
            "a b",
            "a.*.b",
            "\\052.a",
            "é.com",
            &"a".repeat(64),
            &["a.".repeat(127), "b".into()].concat(),
        ] {
            assert!(text.parse::<Name>().is_err(), "{text}");
        }
        assert!(name("*.apps.demo.example.com").is_wildcard());
    }

    #[test]
    fn addresses_lead_back_to_names() {
        assert_eq!(Name::reverse("192.0.2.10".parse().unwrap()).as_str(), "10.2.0.192.in-addr.arpa");
        let six = Name::reverse("2001:db8::1".parse().unwrap());
        assert_eq!(six.as_str(), "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa");
    }

    proptest! {
        #[test]
        fn a_child_is_below_its_parent_and_nothing_else_of_equal_length(label in "[a-z0-9]{1,10}", zone in "[a-z]{1,8}(\\.[a-z]{1,8}){1,3}") {
            let parent = name(&zone);
            let child = parent.child(&label).unwrap();
            prop_assert_eq!(child.below(&parent), Some(label.as_str()));
            let glued = name(&[label.as_str(), zone.as_str()].concat());
            prop_assert!(!glued.is_in(&parent));
        }
    }
}
