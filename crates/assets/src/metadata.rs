//! `metadata.json`: what it takes to find everything of a cluster again and remove it.

use landfall_config::ovirt;
use landfall_platform::InfraId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Cluster, Secrets};

/// What it takes to find everything of a cluster again. The names of the fields are those of the reference installer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterMetadata {
    /// Name of the cluster.
    pub cluster_name: String,
    /// Unique id of the cluster.
    #[serde(rename = "clusterID")]
    pub cluster_id: Uuid,
    /// The mark that everything of the cluster carries.
    #[serde(rename = "infraID")]
    pub infra_id: InfraId,
    /// Domain of the cluster.
    pub cluster_domain: String,
    /// Where it is, if on oVirt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ovirt: Option<OvirtMetadata>,
    /// Where it is, if on Packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<PacketMetadata>,
}

/// Where a cluster on oVirt is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OvirtMetadata {
    /// Id of the oVirt cluster.
    pub cluster_id: Uuid,
    /// Whether the template belongs to the cluster and goes with it.
    pub remove_template: bool,
}

/// Where a cluster on Packet is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PacketMetadata {
    /// Id of the project; none if one was made for the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Uuid>,
}

impl ClusterMetadata {
    /// The metadata of a cluster.
    pub fn new(cluster: &Cluster<'_>, secrets: &Secrets) -> Self {
        Self::with_id(cluster, secrets.cluster_id())
    }

    /// The metadata of a cluster whose unique id somebody else made.
    pub(crate) fn with_id(cluster: &Cluster<'_>, cluster_id: Uuid) -> Self {
        let platform = &cluster.config.platform;
        Self {
            cluster_name: cluster.config.metadata.name.clone(),
            cluster_id,
            infra_id: cluster.infra_id.clone(),
            cluster_domain: cluster.config.cluster_domain(),
            ovirt: platform.ovirt().map(|platform| OvirtMetadata {
                cluster_id: platform.ovirt_cluster_id,
                remove_template: !matches!(platform.image, Some(ovirt::Image::Template(_))),
            }),
            packet: platform.packet().map(|platform| PacketMetadata { project: platform.project }),
        }
    }

    /// As the text of `metadata.json`.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts and ids can be written as JSON") + "\n"
    }
}
