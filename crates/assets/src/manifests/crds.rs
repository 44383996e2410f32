//! Definitions of the machine objects, for clusters that do not bring them.
//!
//! Kept as YAML in one place each, because `kubectl explain` shows their descriptions to users.

use landfall_platform::Mode;

use super::Manifest;
use crate::{Error, yaml};

const DEFINITIONS: [(&str, &str); 3] = [
    ("machine", include_str!("crds/machine.yaml")),
    ("machineset", include_str!("crds/machineset.yaml")),
    ("machinehealthcheck", include_str!("crds/machinehealthcheck.yaml")),
];

/// The definitions of `Machine`, `MachineSet` and `MachineHealthCheck` in `machine.openshift.io/v1beta1`.
pub(crate) fn machine_crds() -> Result<Vec<Manifest>, Error> {
    DEFINITIONS
        .into_iter()
        .map(|(name, text)| {
            let file_name = format!("10-crd-{name}.yaml");
            let objects = yaml::read(&file_name, text.as_bytes())?;
            Ok(Manifest { file_name, objects, mode: Mode::Public })
        })
        .collect()
}
