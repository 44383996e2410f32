//! Packet (Equinix Metal): the fields of `PacketMachineSpec`, and lists where a machine has a choice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SecretReference;

/// What a machine on Packet is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "(has(self.metros) && size(self.metros) > 0) != (has(self.facilities) && size(self.facilities) > 0)",
        "message": "give either metros or facilities",
    },
    {
        "rule": "!has(self.spotPriceMax) || !has(self.hardwareReservationIDs) || size(self.hardwareReservationIDs) == 0",
        "message": "reserved hardware is paid for already: leave spotPriceMax out",
    },
]))]
pub struct PacketMachineProviderSpec {
    /// `packetproviderconfig.machine.openshift.io/v1beta1`.
    #[serde(default)]
    pub api_version: String,
    /// `PacketMachineProviderSpec`.
    #[schemars(extend("enum" = ["PacketMachineProviderSpec"]))]
    pub kind: String,
    /// The Secret with what machines are started with, in its key `userData`.
    pub user_data_secret: SecretReference,
    /// The Secret with the API key: `api_key`, and where they differ from the usual `api_url`, `ca_bundle` and `project_id`.
    pub credentials_secret: SecretReference,
    /// Plans, in the order in which they are tried.
    #[schemars(length(min = 1))]
    pub machine_types: Vec<String>,
    /// Metros, in the order in which they are tried. Either these or facilities.
    #[serde(default)]
    pub metros: Vec<String>,
    /// Facilities, in the order in which they are tried.
    #[serde(default)]
    pub facilities: Vec<String>,
    /// Slug of the operating system.
    pub os: String,
    /// Where a machine with `custom_ipxe` finds its script: the masters serve it.
    #[serde(default, rename = "ipxeScriptURL")]
    pub ipxe_script_url: Option<String>,
    /// How machines are billed.
    #[serde(default)]
    pub billing_cycle: Option<String>,
    /// Tags beside the cluster's mark.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Whether machines have public IPv6 addresses.
    #[serde(default = "yes")]
    pub ipv6: bool,
    /// Whether machines have public IPv4 addresses.
    #[serde(default = "yes", rename = "publicIPv4")]
    pub public_ipv4: bool,
    /// Reserved hardware: ids, or `next-available`.
    #[serde(default, rename = "hardwareReservationIDs")]
    pub hardware_reservation_ids: Vec<String>,
    /// Buys on the spot market for at most so many dollars per hour.
    #[serde(default)]
    pub spot_price_max: Option<f64>,
    /// Ids of SSH keys of the project for the console.
    #[serde(default)]
    pub ssh_keys: Vec<String>,
    /// Ids of users whose SSH keys are for the console too.
    #[serde(default)]
    pub users: Vec<String>,
    /// Virtual networks: ids, or names of the cluster's own.
    #[serde(default)]
    pub virtual_networks: Vec<String>,
    /// Whether machines talk BGP.
    #[serde(default)]
    pub bgp: bool,
}

fn yes() -> bool {
    true
}
