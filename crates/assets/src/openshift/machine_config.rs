//! `MachineConfig`: how files and units reach the machines of a release, and stay there.

use landfall_config::Role;
use landfall_platform::Mode;
use serde_json::{Value, json};

use super::Error;
use crate::{NodeConfig, ignition, manifests::Manifest};

/// The `MachineConfig` that puts something on all machines of a role.
pub(super) fn machine_config(role: Role, config: NodeConfig) -> Result<Manifest, Error> {
    let role = role.name();
    let name = format!("99-{role}-landfall");
    let holds_secret = config.files.iter().any(|file| file.mode == 0o600);
    let config: Value = serde_json::from_slice(&ignition::render(&name, config)?).expect("it was written as JSON");
    let object = json!({
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": { "name": name, "labels": { "machineconfiguration.openshift.io/role": role } },
        "spec": { "config": config },
    });
    let mode = if holds_secret { Mode::Private } else { Mode::Public };
    Ok(Manifest { file_name: format!("10-machineconfig-{role}.yaml"), objects: vec![object], mode })
}
