//! Roots of the machines' credentials, one per role.

use std::{collections::HashMap, net::IpAddr, sync::RwLock};

use landfall_machine_api::Credential;

use super::{Admission, MachineId, Redemption, Unreadable};

/// Roots in memory, one per role. Credentials may be used again and again: for programs that hold no state.
#[derive(Default)]
pub struct Roots(RwLock<HashMap<String, String>>);

impl Roots {
    /// Returns roots by role.
    pub fn new<'a>(roots: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(RwLock::new(roots.into_iter().map(|(role, root)| (role.to_owned(), root.trim().to_owned())).collect()))
    }

    /// Makes all credentials of a role worthless, for example those of the masters once all of them have joined.
    pub fn revoke(&self, role: &str) {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner).remove(role);
    }

    /// Returns true if a credential was made from the root of a role.
    pub fn admit(&self, role: &str, credential: &Credential) -> bool {
        let roots = self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        roots.get(role).is_some_and(|root| credential.is_of(root))
    }
}

#[async_trait::async_trait]
impl Admission for Roots {
    fn admits(&self, role: &str, credential: &Credential) -> Result<bool, Unreadable> {
        Ok(self.admit(role, credential))
    }

    async fn redeem(&self, _: &str, _: MachineId<'_>, _: IpAddr) -> Result<Redemption, Unreadable> {
        Ok(Redemption::Granted)
    }
}
