//! Machine tokens, one per role.

use std::{collections::HashMap, sync::RwLock};

use aws_lc_rs::{
    constant_time::verify_slices_are_equal,
    digest::{SHA256, SHA256_OUTPUT_LEN, digest},
};

use super::{Admission, Unreadable};

/// Machine tokens, one per role. Only their digests are kept.
#[derive(Default)]
pub struct Tokens(RwLock<HashMap<String, Vec<u8>>>);

/// A text is not a SHA-256 in hexadecimal.
#[derive(Debug, thiserror::Error)]
#[error("the token digest of role {role} is not a SHA-256 in hexadecimal")]
pub struct BadDigest {
    /// The role whose digest was given.
    pub role: String,
}

impl Tokens {
    /// Tokens by role.
    pub fn new<'a>(tokens: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(RwLock::new(tokens.into_iter().map(|(role, token)| (role.to_owned(), hash(token))).collect()))
    }

    /// The SHA-256 of tokens in hexadecimal by role, as machines have them in files; white space around them is ignored.
    pub fn from_digests<'a>(digests: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, BadDigest> {
        let read = |(role, text): (&str, &str)| match unhex(text.trim()) {
            Some(digest) if digest.len() == SHA256_OUTPUT_LEN => Ok((role.to_owned(), digest)),
            _ => Err(BadDigest { role: role.to_owned() }),
        };
        Ok(Self(RwLock::new(digests.into_iter().map(read).collect::<Result<_, _>>()?)))
    }

    /// Makes a role's token worthless, for example that of the masters once all of them have joined.
    pub fn revoke(&self, role: &str) {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner).remove(role);
    }
}

impl Tokens {
    /// Returns true if `token` is the role's.
    pub fn admit(&self, role: &str, token: &str) -> bool {
        let tokens = self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let presented = hash(token);
        tokens.get(role).is_some_and(|expected| verify_slices_are_equal(expected, &presented).is_ok())
    }

    /// Returns true if `token` is that of any role.
    pub fn admit_any(&self, token: &str) -> bool {
        let tokens = self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let presented = hash(token);
        tokens.values().any(|expected| verify_slices_are_equal(expected, &presented).is_ok())
    }
}

/// They are in memory, and can always be told.
impl Admission for Tokens {
    fn admits(&self, role: &str, token: &str) -> Result<bool, Unreadable> {
        Ok(self.admit(role, token))
    }

    fn admits_any(&self, token: &str) -> Result<bool, Unreadable> {
        Ok(self.admit_any(token))
    }
}

fn hash(token: &str) -> Vec<u8> {
    digest(&SHA256, token.as_bytes()).as_ref().to_vec()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_admits_its_token_and_no_other() {
        // printf secret | sha256sum
        let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\n";
        let tokens = Tokens::from_digests([("worker", digest)]).unwrap();
        assert!(tokens.admit("worker", "secret"));
        assert!(!tokens.admit("worker", digest.trim()), "the digest itself is no token");
        assert!(!tokens.admit("master", "secret"));
    }

    #[test]
    fn what_is_no_digest_is_refused_with_its_role() {
        for text in ["", "secret", "2bb8", &"é".repeat(32), &"0".repeat(63)] {
            let error = Tokens::from_digests([("worker", text)]).err().unwrap();
            assert_eq!(error.to_string(), "the token digest of role worker is not a SHA-256 in hexadecimal");
        }
    }
}
