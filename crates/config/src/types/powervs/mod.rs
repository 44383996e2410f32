//! The PowerVS (IBM Power Virtual Server) section.

mod endpoints;
mod zones;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use endpoints::{Service, ServiceEndpoint, ServiceEndpoints};
pub use zones::{VpcRegion, ZONES, Zone, vpc_region, zone};

use super::format;

/// IBM Power Virtual Server. The API key is in `IBMCLOUD_API_KEY` or in the file that `POWERVS_AUTH_FILEPATH` names (default:
/// `~/.powervs/config.json`), never here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PowervsPlatform")]
pub struct Platform {
    /// Resource group that everything is made in, by name or id. Default: that which the account marks as its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub powervs_resource_group: Option<String>,

    /// Zone of the machines, for example `dal10`.
    pub zone: String,

    /// Region of the zone. Default: derived from the zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,

    /// Region of the VPC with the load balancers, for example `us-south`. Default: the one next to the zone. Another one makes
    /// the transit gateway a global one, which costs more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc_region: Option<String>,

    /// Id of the user, as the reference installer wants it. Not needed here.
    #[serde(default, rename = "userID", skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,

    /// GUID of a workspace that exists. It must have a Power Edge Router and no DHCP server, and stays when the cluster is
    /// destroyed. Default: one is made for the cluster.
    #[serde(default, rename = "serviceInstanceGUID", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<format::Id>")]
    pub service_instance_guid: Option<Uuid>,

    /// Name or id of a VPC that exists. It stays when the cluster is destroyed. Default: one is made for the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc_name: Option<String>,

    /// Names or ids of subnets of `vpcName` that the load balancers are in. They stay when the cluster is destroyed. Default: one
    /// subnet in each zone of the VPC's region is made for the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vpc_subnets: Vec<String>,

    /// Name or id of a transit gateway that exists and joins workspace and VPC, or may be made to. It stays when the cluster is
    /// destroyed, and so do connections that it had before. Default: one is made for the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tg_name: Option<String>,

    /// What the machines boot from.
    pub image: Image,

    /// From where API and ingress can be reached. With `loadBalancer: userManaged` it has no meaning.
    #[serde(default)]
    pub publish: Publish,

    /// Resolver that the machines are told by DHCP. Default: a public one; with `publish: internal` name the resolver of the VPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<format::Ip>")]
    pub dns_server: Option<std::net::IpAddr>,

    /// Addresses of services other than IBM's own, for private endpoints and simulators.
    #[serde(default, skip_serializing_if = "ServiceEndpoints::is_empty")]
    pub service_endpoints: ServiceEndpoints,

    /// Settings for machines of all pools; a pool's own settings go before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_machine_platform: Option<MachinePool>,
}

impl Platform {
    /// The region of the zone: as given, else as the table or the zone's own name says.
    pub fn region(&self) -> String {
        let derived = || zone(&self.zone).map_or_else(|| zones::region_of(&self.zone), |zone| zone.region.to_owned());
        self.region.clone().unwrap_or_else(derived)
    }

    /// The region of the VPC: as given, else the one next to the zone. None if neither is known.
    pub fn vpc_region(&self) -> Option<String> {
        let derived = || zone(&self.zone)?.vpc_region.map(str::to_owned);
        self.vpc_region.clone().or_else(derived)
    }

    /// The region of the object storage next to the zone. None if there is none.
    pub fn cos_region(&self) -> Option<String> {
        zone(&self.zone)?.cos_region.map(str::to_owned)
    }

    /// Whether the transit gateway has to reach beyond the VPC region next to the zone.
    pub fn is_global(&self) -> bool {
        self.vpc_region().as_deref() != zone(&self.zone).and_then(|zone| zone.vpc_region)
    }
}

/// What the machines boot from. Exactly one of the three.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PowervsImage")]
pub enum Image {
    /// Name or id of a boot image that the workspace has already. It stays when the cluster is destroyed. Needs
    /// `serviceInstanceGUID`.
    Existing(#[schemars(length(min = 1))] String),
    /// Name of an object in the public bucket of RHCOS images next to the zone: `rhcos-…-ppc64le-powervs.ova.gz`.
    Regional(#[schemars(length(min = 1))] String),
    /// An OVA in object storage of your own.
    Object(ImageObject),
}

/// An OVA in object storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PowervsImageObject")]
pub struct ImageObject {
    /// Name of the bucket.
    #[schemars(length(min = 1))]
    pub bucket: String,
    /// Name of the object: an OVA, perhaps compressed (`.ova.gz`).
    #[schemars(length(min = 1))]
    pub object: String,
    /// Region of the bucket. Default: that of the object storage next to the zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Who may read the bucket. For a private one its HMAC key is in `IBMCLOUD_HMAC_ACCESS_KEY_ID` and
    /// `IBMCLOUD_HMAC_SECRET_ACCESS_KEY` or in the file with the API key.
    #[serde(default)]
    pub access: BucketAccess,
}

/// Who may read a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BucketAccess {
    /// Those who have a key.
    #[default]
    Private,
    /// Everybody.
    Public,
}

/// From where API and ingress can be reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Publish {
    /// From everywhere.
    #[default]
    External,
    /// From the VPC and what is joined to it. Needs `vpcName`, and that Landfall runs where it reaches the VPC.
    Internal,
}

/// The machines of a pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PowervsMachinePool")]
pub struct MachinePool {
    /// Type of the system that machines run on, for example `s1022`. Default: `s922` where the zone has it, else the first that
    /// it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_type: Option<String>,
    /// How machines share processors. Default: `Shared`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proc_type: Option<ProcessorType>,
    /// Number of processors: in steps of 0.25 from 0.5 for `Shared` and `Capped`, whole for `Dedicated`. Default: 0.5, and 1 for
    /// `Dedicated`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.25))]
    pub processors: Option<f64>,
    /// Memory in GiB. Default: 32.
    #[serde(default, rename = "memoryGiB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub memory_gib: Option<u32>,
    /// Speed of the disk. Default: `tier3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_type: Option<StorageType>,
    /// Threads per processor: `1` to `8`, `on` or `off`. All compute pools must have the same. Default: as the operating system does
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smt_level: Option<String>,
}

/// How machines share processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProcessorType {
    /// They take what others leave.
    #[default]
    Shared,
    /// They take no more than their own.
    Capped,
    /// They do not share.
    Dedicated,
}

impl ProcessorType {
    /// The word of the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Capped => "capped",
            Self::Dedicated => "dedicated",
        }
    }
}

/// Speed of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StorageType {
    /// 25 operations per second and GiB.
    Tier0,
    /// 10 operations per second and GiB.
    Tier1,
    /// 3 operations per second and GiB.
    #[default]
    Tier3,
    /// 5000 operations per second, whatever the size.
    Tier5k,
}

impl StorageType {
    /// The word of the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tier0 => "tier0",
            Self::Tier1 => "tier1",
            Self::Tier3 => "tier3",
            Self::Tier5k => "tier5k",
        }
    }
}
