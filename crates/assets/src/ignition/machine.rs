//! Full configs of machines.

use std::collections::HashSet;

use super::document::Document;
use crate::{Cluster, Error, MachineRole, node::NodeConfig};

/// The Ignition config of a machine.
pub(super) fn render(cluster: &Cluster<'_>, role: MachineRole, mut config: NodeConfig) -> Result<Vec<u8>, Error> {
    config.files.sort_by(|a, b| a.path.cmp(&b.path));
    config.units.sort_by(|a, b| a.name.cmp(&b.name));
    let mut taken = HashSet::new();
    let names = config.files.iter().map(|file| &file.path).chain(config.units.iter().map(|unit| &unit.name));
    if let Some(twice) = names.into_iter().find(|name| !taken.insert(*name)) {
        return Err(Error::PathTaken { path: twice.clone(), role });
    }

    let mut document = Document::default();
    document.reach_outside(cluster);
    let ssh_keys = cluster.config.ssh_key.as_deref().unwrap_or_default();
    document.authorize(ssh_keys.lines().map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned).collect());
    document.add(config);
    document.to_json(&format!("{role}.ign"))
}
