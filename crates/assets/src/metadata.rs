//! `metadata.json`: what it takes to find everything of a cluster again and remove it.

use landfall_config::{ovirt, powervm::Host, powervs::ServiceEndpoints};
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
    /// Where it is, if on PowerVM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub powervm: Option<PowervmMetadata>,
    /// Where it is, if on PowerVS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub powervs: Option<PowervsMetadata>,
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

/// Where a cluster on PowerVM is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PowervmMetadata {
    /// The servers.
    pub hosts: Vec<Host>,
}

/// Where a cluster on PowerVS is, and what of it is the user's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PowervsMetadata {
    /// Zone of the machines.
    pub zone: String,
    /// Region of the zone.
    pub region: String,
    /// Region of the VPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc_region: Option<String>,
    /// The resource group; none if it is the account's default one.
    #[serde(default, rename = "powerVSResourceGroup", skip_serializing_if = "Option::is_none")]
    pub resource_group: Option<String>,
    /// GUID of the workspace; none if one was made for the cluster.
    #[serde(default, rename = "serviceInstanceGUID", skip_serializing_if = "Option::is_none")]
    pub service_instance_guid: Option<Uuid>,
    /// The VPC; none if one was made for the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc_name: Option<String>,
    /// The transit gateway; none if one was made for the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transit_gateway_name: Option<String>,
    /// Where services are, if not where IBM has them.
    #[serde(default, skip_serializing_if = "ServiceEndpoints::is_empty")]
    pub service_endpoints: ServiceEndpoints,
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
            powervm: platform.powervm().map(|platform| PowervmMetadata { hosts: platform.hosts.clone() }),
            powervs: platform.powervs().map(|platform| PowervsMetadata {
                zone: platform.zone.clone(),
                region: platform.region(),
                vpc_region: platform.vpc_region(),
                resource_group: platform.powervs_resource_group.clone(),
                service_instance_guid: platform.service_instance_guid,
                vpc_name: platform.vpc_name.clone(),
                transit_gateway_name: platform.tg_name.clone(),
                service_endpoints: platform.service_endpoints.clone(),
            }),
        }
    }

    /// As the text of `metadata.json`.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts and ids can be written as JSON") + "\n"
    }
}
