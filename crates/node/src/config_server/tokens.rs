//! Machine tokens, one per role.

use std::{collections::HashMap, sync::RwLock};

use aws_lc_rs::{
    constant_time::verify_slices_are_equal,
    digest::{SHA256, digest},
};

/// Machine tokens, one per role. Only their digests are kept.
#[derive(Default)]
pub struct Tokens(RwLock<HashMap<String, Vec<u8>>>);

impl Tokens {
    /// Tokens by role.
    pub fn new<'a>(tokens: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(RwLock::new(tokens.into_iter().map(|(role, token)| (role.to_owned(), hash(token))).collect()))
    }

    /// Makes a role's token worthless, for example that of the masters once all of them have joined.
    pub fn revoke(&self, role: &str) {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner).remove(role);
    }

    /// Whether `token` is the role's. The time that it takes does not tell how much of it is right.
    pub(super) fn admits(&self, role: &str, token: &str) -> bool {
        let tokens = self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let presented = hash(token);
        tokens.get(role).is_some_and(|expected| verify_slices_are_equal(expected, &presented).is_ok())
    }
}

fn hash(token: &str) -> Vec<u8> {
    digest(&SHA256, token.as_bytes()).as_ref().to_vec()
}
