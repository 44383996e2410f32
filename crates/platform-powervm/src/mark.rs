//! The mark that every partition of a cluster carries from the moment it is created.

use landfall_platform::InfraId;
use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

use crate::compute::PartitionId;

/// The mark of one cluster.
///
/// A partition has no field for notes that every version of the platform keeps. But whoever makes one chooses its id, which never
/// changes and is given in the very call that creates it. So the id holds the mark: 47 random bits, and a digest of them and the
/// infra id. It stays the cluster's whatever its name becomes, and one that is only called like one of the cluster's does not carry
/// the mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(InfraId);

impl Mark {
    /// The mark of a cluster.
    pub fn new(infra_id: InfraId) -> Self {
        Self(infra_id)
    }

    /// Whose mark it is.
    pub fn infra_id(&self) -> &InfraId {
        &self.0
    }

    /// The name of an object of the cluster.
    pub fn name(&self, suffix: &str) -> String {
        format!("{}-{suffix}", self.0)
    }

    /// An id for a new partition. No two are the same: a machine that is made anew is another machine.
    pub fn new_id(&self) -> PartitionId {
        self.id(rand::random())
    }

    /// Returns true if the id of a partition carries the mark.
    pub fn is_on(&self, id: &str) -> bool {
        let Ok(given) = id.parse::<Uuid>() else { return false };
        let mut random = [0; 6];
        random.copy_from_slice(&given.as_bytes()[..6]);
        self.id(random).as_str().eq_ignore_ascii_case(id)
    }

    /// A UUID of version 8, whose bits are ours to give, except for the first, which the platform wants clear.
    fn id(&self, mut random: [u8; 6]) -> PartitionId {
        random[0] &= 0x7f;
        let digest = Sha256::new().chain_update(random).chain_update(format!("\0{}", self.0)).finalize();
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&random);
        bytes[6..].copy_from_slice(&digest[..10]);
        Builder::from_custom_bytes(bytes).into_uuid().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_exact() {
        let mark = |id: &str| Mark::new(id.parse().unwrap());
        let id = mark("a-bcdfg").new_id();
        assert!(mark("a-bcdfg").is_on(id.as_str()));
        assert!(mark("a-bcdfg").is_on(&id.as_str().to_lowercase()));
        for other in ["a-bcdfh", "a", "a-bcdfg-master", "ba-bcdfg"] {
            assert!(!mark(other).is_on(id.as_str()), "{other}");
        }
        assert!(!mark("a-bcdfg").is_on("7FFFFFFF-0000-4000-8000-0123456789AB"));
        assert!(!mark("a-bcdfg").is_on("rubbish"));
    }

    #[test]
    fn a_machine_that_is_made_anew_is_another() {
        let mark = Mark::new("a-bcdfg".parse().unwrap());
        assert_ne!(mark.new_id(), mark.new_id());
    }
}
