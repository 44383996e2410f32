//! A machine as it is wanted, and the request that creates it.

use landfall_config::packet::Location;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A machine. What is in it stands in plans and journals, so nothing of it is secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Its host name.
    pub name: String,
    /// Its id, of one that was found on the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Places and plans, in the order in which they are tried.
    #[serde(default)]
    pub candidates: Vec<Candidate>,
    /// How it is paid.
    #[serde(default)]
    pub price: Price,
    /// The operating system's slug.
    #[serde(default)]
    pub os: String,
    /// Where it finds its iPXE script, if not where all machines of the installation do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script_url: Option<String>,
    /// Its tags, the cluster's mark included.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How it is billed.
    #[serde(default)]
    pub billing_cycle: String,
    /// Whether it has a public IPv4 address.
    #[serde(default)]
    pub public_ipv4: bool,
    /// Whether it has a public IPv6 address.
    #[serde(default)]
    pub public_ipv6: bool,
    /// SSH keys of the project for its console: ids, or names of the cluster's own; nothing means none.
    #[serde(default)]
    pub ssh_keys: Vec<String>,
    /// Ids of users whose SSH keys are for its console too.
    #[serde(default)]
    pub users: Vec<String>,
    /// Names of virtual networks that it is attached to, and ids of those that exist already.
    #[serde(default)]
    pub virtual_networks: Vec<String>,
    /// Whether it talks BGP.
    #[serde(default)]
    pub bgp: bool,
    /// Name of the file with its Ignition config. The config itself holds secrets.
    #[serde(default)]
    pub ignition: String,
}

/// Where a machine may stand, and what it may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Where.
    pub location: Location,
    /// What.
    pub plan: String,
}

/// How a machine is paid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Price {
    /// By the list.
    #[default]
    OnDemand,
    /// On the spot market, at most so many dollars per hour.
    Spot(f64),
    /// It is paid already: one of these reservations, or `next-available`.
    Reserved(Vec<String>),
}

impl Device {
    /// The request.
    pub(super) fn request(
        &self,
        candidate: &Candidate,
        reservation: Option<&str>,
        user_data: &str,
        script_url: Option<&str>,
        ssh_keys: &[String],
    ) -> Value {
        let address = |family: u8, public: bool| json!({"address_family": family, "public": public});
        let wanted = [(4, true, self.public_ipv4), (6, true, self.public_ipv6), (4, false, true)];
        let addresses: Vec<Value> = wanted
            .iter()
            .filter(|(_, _, wanted)| *wanted)
            .map(|(family, public, _)| address(*family, *public))
            .collect();
        let mut body = json!({
            candidate.location.kind(): candidate.location.code(),
            "plan": candidate.plan,
            "operating_system": self.os,
            "hostname": self.name,
            "billing_cycle": self.billing_cycle,
            "tags": self.tags,
            "userdata": user_data,
            "ip_addresses": addresses,
        });
        // Without a list the platform takes the keys of everybody in the project.
        if ssh_keys.is_empty() && self.users.is_empty() {
            body["no_ssh_keys"] = json!(true);
        } else {
            body["project_ssh_keys"] = json!(ssh_keys);
            body["user_ssh_keys"] = json!(self.users);
        }
        if let Some(url) = self.script_url.as_deref().or(script_url).filter(|_| self.os == "custom_ipxe") {
            body["ipxe_script_url"] = json!(url);
        }
        if let Some(reservation) = reservation {
            body["hardware_reservation_id"] = json!(reservation);
        }
        if let Price::Spot(price) = self.price {
            body["spot_instance"] = json!(true);
            body["spot_price_max"] = json!(price);
        }
        body
    }
}
