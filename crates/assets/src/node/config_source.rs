//! `/etc/landfall/config-source.json`: where a machine's config came from.

use landfall_config::Role;
use serde::{Deserialize, Serialize};

use super::{NodeFile, paths};
use crate::{Cluster, Secrets};

/// Where a machine's config came from: what its pointer config says, which is gone after the first boot.
///
/// Only workers have it, with their credential in a file of its own. They may boot for longer than their join token lives, and the config server
/// hands out a new one; masters are handed authorities, which nothing on a machine that is up must open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigSource {
    /// The config's URL.
    pub url: String,
    /// The authority that must have signed the server's certificate.
    pub authority: String,
}

impl ConfigSource {
    /// Returns the file for machines of a role.
    pub(super) fn file(cluster: &Cluster<'_>, secrets: &Secrets, role: Role) -> NodeFile {
        let source = Self { url: config_url(cluster, role), authority: secrets.cluster_ca().certificate().to_owned() };
        let text = serde_json::to_string_pretty(&source).expect("texts can be written as JSON");
        NodeFile::public(paths::CONFIG_SOURCE, text + "\n")
    }
}

/// Returns the URL of the config that machines of a role are served.
pub(crate) fn config_url(cluster: &Cluster<'_>, role: Role) -> String {
    format!("https://{}/config/{}", cluster.config_server_endpoint(), role.name())
}
