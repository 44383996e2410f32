//! VRRP router ids.

use landfall_config::{Platform, RouterIds};
use sha2::{Digest, Sha256};

use crate::Cluster;

/// The VRRP router ids of a cluster, if its machines hold virtual addresses: the user's choice, or one made from the infra
/// id.
///
/// The infra id is random, so two clusters of the same name on one segment, which the reference gives equal ids, differ
/// here in 254 of 255 cases; keepalived talks to its peers alone, so that even equal ones do no harm.
pub fn router_ids(cluster: &Cluster<'_>) -> Option<RouterIds> {
    if !cluster.holds_vips() {
        return None;
    }
    let chosen = match &cluster.config.platform {
        Platform::Ovirt(platform) => platform.vrrp,
        Platform::Powervm(platform) => platform.vrrp,
        Platform::Packet(_) | Platform::Powervs(_) => None,
    };
    Some(chosen.unwrap_or_else(|| from_infra_id(cluster.infra_id.as_str())))
}

fn from_infra_id(infra_id: &str) -> RouterIds {
    let digest = Sha256::digest(infra_id);
    let api = digest[0] % 255 + 1;
    // A step of 1 to 254 around a circle of 255 never ends where it began.
    let step = digest[1] % 254 + 1;
    let ingress = u8::try_from((u16::from(api) - 1 + u16::from(step)) % 255 + 1).expect("at most 255");
    RouterIds { api, ingress }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_are_valid_and_differ(infra_id in "[a-z0-9-]{1,27}") {
            let ids = from_infra_id(&infra_id);
            prop_assert!(ids.api != 0 && ids.ingress != 0);
            prop_assert_ne!(ids.api, ids.ingress);
            prop_assert_eq!(ids, from_infra_id(&infra_id));
        }
    }
}
