//! The Packet (Equinix Metal) section.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;
use uuid::Uuid;

use super::format;

/// Packet, later Equinix Metal. The API key is in `METAL_AUTH_TOKEN` or in the file that `PACKET_CONFIG` names (default:
/// `~/.packet/packet-config.yaml`), never here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PacketPlatform")]
pub struct Platform {
    /// Id of the project that the machines belong to. Either this or `newProject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<format::Id>")]
    pub project: Option<Uuid>,

    /// A project that is made for the cluster, and goes with it. Either this or `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_project: Option<NewProject>,

    /// Metros, for example `da`, in the order in which they are tried. The first with enough servers gets the control plane;
    /// workers for which it has none left go to the next. Either this or `facilities`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metros: Vec<String>,

    /// Facilities, for example `ewr1`, in the order in which they are tried, as accounts of before 2021 name places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facilities: Vec<String>,

    /// What the machines run and how it gets there.
    pub os: Os,

    /// Where machines fetch their iPXE script and the bootstrap machine its config. Not needed for an `os` of the platform's
    /// own, except by the bootstrap machine.
    pub asset_host: AssetHost,

    /// How traffic gets to the API and the ingress. With `loadBalancer: userManaged` it has no meaning. Default: `eip`.
    #[serde(default)]
    pub endpoint: Endpoint,

    /// Elastic address for the API that the project has reserved already. It stays when the cluster is destroyed. Default: one
    /// is reserved for the cluster, and its DNS records are made when it is known, which needs `dns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<format::Ip>")]
    pub api_address: Option<IpAddr>,

    /// Elastic address for the ingress, as `apiAddress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<format::Ip>")]
    pub ingress_address: Option<IpAddr>,

    /// Further blocks of addresses to reserve for the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub address_blocks: Vec<AddressBlock>,

    /// Virtual networks (VLANs) that all machines are attached to beside their routed network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub virtual_networks: Vec<VirtualNetwork>,

    /// Whether machines get public IPv6 addresses. Default: true.
    #[serde(default = "Platform::default_ipv6", rename = "ipv6")]
    pub ipv6: bool,

    /// Ids of SSH keys of the project that may use the machines' out-of-band console. The keys of `sshKey` get in over the
    /// network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<format::Id>")]
    pub console_ssh_keys: Vec<Uuid>,

    /// Ids of users, members of the project or its organisation, whose own SSH keys may use the console too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<format::Id>")]
    pub console_users: Vec<Uuid>,

    /// Whether the keys of `sshKey` are added to the project, so that their holders get to the console. They go with the
    /// cluster. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub project_ssh_keys: bool,

    /// Tags that all objects carry beside the cluster's mark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,

    /// How machines are billed.
    #[serde(default)]
    pub billing_cycle: BillingCycle,

    /// Deploys the platform's cloud controller manager, which gives Services of type `LoadBalancer` elastic addresses and
    /// describes nodes. Nothing of Landfall needs it. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cloud_controller_manager: Option<CloudControllerManager>,

    /// Image of kube-vip, which announces addresses over BGP. A tag leads to whatever the registry has there; a digest
    /// (`name@sha256:…`) does not. Default: release 0.8.0 by its tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub kube_vip_image: Option<String>,

    /// Settings of the bootstrap machine. Default: those of the control plane, on demand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<MachinePool>,

    /// Settings for machines of all pools; a pool's own settings go before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_machine_platform: Option<MachinePool>,
}

/// A later version no longer knows this platform, and is told everything.
const KUBE_VIP: &str = "ghcr.io/kube-vip/kube-vip:v0.8.0";

impl Platform {
    fn default_ipv6() -> bool {
        true
    }

    /// Image of kube-vip.
    pub fn kube_vip_image(&self) -> &str {
        self.kube_vip_image.as_deref().unwrap_or(KUBE_VIP)
    }

    /// The places to try, in order.
    pub fn locations(&self) -> Vec<Location> {
        let metros = self.metros.iter().map(|code| Location::Metro(code.clone()));
        metros.chain(self.facilities.iter().map(|code| Location::Facility(code.clone()))).collect()
    }
}

/// A place where machines stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// A metro.
    Metro(String),
    /// A facility.
    Facility(String),
}

impl Location {
    /// The name of the field that requests have for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Metro(_) => "metro",
            Self::Facility(_) => "facility",
        }
    }

    /// Its code.
    pub fn code(&self) -> &str {
        match self {
            Self::Metro(code) | Self::Facility(code) => code,
        }
    }
}

/// A project that is made for the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProject {
    /// Id of the organisation that pays for it. Default: the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<format::Id>")]
    pub organization: Option<Uuid>,
}

/// What the machines run and how it gets there. Exactly one of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Os {
    /// Fedora CoreOS or RHCOS, started from the network.
    Ipxe(Box<Ipxe>),
    /// One of the platform's own operating systems that reads Ignition, for example `flatcar_stable`.
    Slug(#[schemars(length(min = 1))] String),
}

/// Fedora CoreOS or RHCOS, started from the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ipxe {
    /// URL (https, unless `trustBootNetwork` is set) of the live kernel.
    pub kernel: Url,
    /// URL (https, unless `trustBootNetwork` is set) of the live initramfs.
    pub initramfs: Url,
    /// URL of the live root file system.
    pub rootfs: Url,
    /// Allows URLs of kernel and initramfs that are not https. Nothing verifies these files then: set it only if every network
    /// between the machines and the server is yours, since who can change packets there boots a system of its own on the machines and
    /// gets the configs that they get. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trust_boot_network: bool,
    /// Disk that the system is installed to. Without it the system lives in memory and is fetched anew at each start. Default:
    /// `/dev/sda`.
    #[serde(default = "Ipxe::default_disk", skip_serializing_if = "Option::is_none")]
    pub install_disk: Option<String>,
    /// Serial console of the machines. Default: `ttyS1,115200n8`, and `ttyAMA0,115200` on Arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub console: Option<String>,
    /// Further arguments of the kernel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_arguments: Vec<String>,
}

impl Ipxe {
    #[allow(clippy::unnecessary_wraps, reason = "the default of an optional field")]
    fn default_disk() -> Option<String> {
        Some("/dev/sda".to_owned())
    }
}

/// Where machines fetch what they start with. Exactly one of the three.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AssetHost {
    /// Landfall serves it itself while it installs. The machines must reach this computer.
    Landfall(OwnHost),
    /// URL (https) below which you serve the files that `create cluster` puts into `asset-host` of the install directory, under
    /// their names. They hold secrets: the URL must be unguessable, and the files must go when the cluster is up.
    Url(Url),
    /// A bucket of an object store that speaks S3. Machines get links that expire; the objects go when the cluster is up.
    Bucket(Bucket),
}

/// A bucket of an object store. Credentials come from the usual AWS environment variables and files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bucket {
    /// Its name. It must exist, and nobody but you needs rights to it.
    #[schemars(length(min = 3, max = 63))]
    pub name: String,
    /// URL (https) of the object store. Default: Amazon's own in the region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Url>,
    /// Region of the bucket. Default: `us-east-1`.
    #[serde(default = "Bucket::default_region")]
    pub region: String,
    /// How long links work, in minutes, at most a week. Machines must have booted by then; a new run makes new links for
    /// machines that it makes. Default: 180.
    #[serde(default = "Bucket::default_link_minutes")]
    #[schemars(range(min = 10, max = 10080))]
    pub link_minutes: u32,
}

impl Bucket {
    fn default_region() -> String {
        "us-east-1".to_owned()
    }

    fn default_link_minutes() -> u32 {
        180
    }
}

/// The platform's cloud controller manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloudControllerManager {
    /// What brings the addresses of Services to nodes.
    #[serde(default)]
    pub services: ServiceLoadBalancer,
    /// Its image. Default: that of version 3.8.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// What brings the addresses of Services to nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ServiceLoadBalancer {
    /// kube-vip on every worker, over BGP. It is deployed too.
    #[default]
    KubeVip,
    /// `MetalLB`, which you deploy; the manager configures it by its custom resources.
    Metallb,
    /// Nothing: the manager only describes nodes.
    None,
}

/// Landfall as the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OwnHost {
    /// Address and port to listen on. `create cluster --asset-listen` goes before.
    #[serde(default = "OwnHost::default_listen")]
    pub listen: String,
    /// Name or address, with a port if it is another one, under which machines reach it. Default: that of `listen`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
}

impl OwnHost {
    fn default_listen() -> String {
        "0.0.0.0:8448".to_owned()
    }
}

/// How traffic gets to the API and the ingress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Endpoint {
    /// An elastic address each, assigned to one healthy machine and moved when that one fails.
    #[default]
    Eip,
    /// An elastic address each, announced over BGP by all machines that can serve it.
    Bgp,
    /// No address of its own: the names lead to all machines that can serve. A machine that fails is asked until its record
    /// goes.
    DnsRoundRobin,
}

/// A block of addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddressBlock {
    /// Name, unique in the list.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What kind of addresses.
    #[serde(default)]
    pub kind: AddressKind,
    /// How many: 1, 2, 4, 8 or 16.
    #[schemars(extend("enum" = [1, 2, 4, 8, 16]))]
    pub quantity: u8,
}

/// A kind of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AddressKind {
    /// Reachable from everywhere.
    #[default]
    Public,
    /// Reachable inside the project.
    Private,
}

/// A virtual network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VirtualNetwork {
    /// Name, unique in the list.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Id of one that exists. It stays when the cluster is destroyed. Default: one is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<format::Id>")]
    pub id: Option<Uuid>,
    /// Number of the one that is made, 2 to 3999. Default: the platform chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 3999))]
    pub vxlan: Option<u32>,
}

/// How machines are billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BillingCycle {
    /// By the hour.
    #[default]
    Hourly,
    /// By the day.
    Daily,
    /// By the month.
    Monthly,
    /// By the year.
    Yearly,
}

impl BillingCycle {
    /// The platform's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Monthly => "monthly",
            Self::Yearly => "yearly",
        }
    }
}

/// The machines of a pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PacketMachinePool")]
pub struct MachinePool {
    /// Plans, for example `c3.small.x86`, in the order in which they are tried. Default: `c3.small.x86`, `m3.small.x86`,
    /// `c3.medium.x86`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<String>,
    /// Reserved hardware to use: ids, of which each machine takes one that is free, or `next-available`. Default: none,
    /// machines are bought on demand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hardware_reservations: Vec<String>,
    /// Buys machines on the spot market, from which they can be taken away with two minutes' notice. Not for masters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spot: Option<Spot>,
    /// Whether machines have a public IPv4 address. Without one they need an `os` of the platform's own, and a way out that you
    /// provide. Not for masters. Default: true.
    #[serde(default, rename = "publicIPv4", skip_serializing_if = "Option::is_none")]
    pub public_ipv4: Option<bool>,
}

/// Buying on the spot market.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spot {
    /// Most US cents per hour and machine.
    #[schemars(range(min = 1))]
    pub max_price_cents: u32,
}

impl Spot {
    /// Most dollars per hour and machine.
    pub fn max_price(self) -> f64 {
        f64::from(self.max_price_cents) / 100.0
    }
}
