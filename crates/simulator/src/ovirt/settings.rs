//! How the engine itself behaves, as opposed to what is in its world.

use serde::{Deserialize, Serialize};

/// The part of the inventory that is about the engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The version that the engine reports, `major.minor.build.revision`.
    pub version: String,
    /// The full version that it reports, with the packaging's suffix.
    pub full_version: String,
    /// What adding a VM to an affinity group is answered with.
    pub affinity_group_add: AffinityGroupAdd,
    /// The first of the hardware addresses that interfaces are given, as `56:6f:00:00:00:00`.
    #[serde(with = "mac")]
    pub first_mac: u64,
    /// Where hosts serve image transfers, as a URL without the path. Empty: `https://<host>:54322`.
    pub transfer_url: String,
    /// Where the engine's proxy serves image transfers, likewise. Empty: `https://localhost:54323`.
    pub proxy_url: String,
}

/// Engines differ in what they answer when a VM is added to an affinity group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AffinityGroupAdd {
    /// The VM, as engines from 4.4.5.8 do.
    Vm,
    /// An action with its status, as older ones do.
    Action,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: "4.5.6.0".into(),
            full_version: "4.5.6-1.el9".into(),
            affinity_group_add: AffinityGroupAdd::Vm,
            first_mac: 0x56_6f_1a_00_00_00,
            transfer_url: String::new(),
            proxy_url: String::new(),
        }
    }
}

impl Settings {
    /// The cluster compatibility level that goes with a version: 4.4 had 4.4, and all of 4.5 has 4.7.
    pub(crate) fn compatibility_minor(&self) -> &str {
        if self.version_part(1) == "5" { "7" } else { self.version_part(1) }
    }

    /// A part of the version: 0 is the major one.
    pub(crate) fn version_part(&self, index: usize) -> &str {
        self.version.split('.').nth(index).unwrap_or("0")
    }
}

/// Hardware addresses as text.
mod mac {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::ovirt::model::{canonical_mac, format_mac};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
    pub(super) fn serialize<S: Serializer>(mac: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_mac(*mac))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mac = canonical_mac(&text).ok_or_else(|| D::Error::custom(format!("{text} is not a MAC address")))?;
        u64::from_str_radix(&mac.replace(':', ""), 16).map_err(D::Error::custom)
    }
}
