//! Devices.

use std::net::IpAddr;

use landfall_wire::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Client, Reference};
use crate::Error;

/// A device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Device {
    /// Its id.
    pub id: String,
    /// Its host name, which is not unique.
    #[serde(default)]
    pub hostname: String,
    /// Its state.
    pub state: DeviceState,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Its addresses.
    #[serde(default)]
    pub ip_addresses: Vec<Address>,
    /// Its ports: the bond first.
    #[serde(default)]
    pub network_ports: Vec<Port>,
    /// Whether it is protected from being deleted.
    #[serde(default)]
    pub locked: bool,
    /// When it will be taken away, if it will.
    #[serde(default)]
    pub termination_time: Option<String>,
    /// The metro it stands in.
    #[serde(default)]
    pub metro: Option<Coded>,
    /// The facility it stands in.
    #[serde(default)]
    pub facility: Option<Coded>,
}

/// A place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Coded {
    /// Its code.
    #[serde(default)]
    pub code: String,
}

/// A state of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "they are the API's words")]
pub enum DeviceState {
    Queued,
    Provisioning,
    Active,
    Inactive,
    PoweringOn,
    PoweringOff,
    Reinstalling,
    Deprovisioning,
    Deleted,
    Failed,
    #[serde(other)]
    Unknown,
}

/// An address of a device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Address {
    /// The address.
    pub address: IpAddr,
    /// Whether it is reachable from everywhere.
    #[serde(default)]
    pub public: bool,
    /// Whether it is the device's own, and not one assigned to it.
    #[serde(default)]
    pub management: bool,
}

/// A port of a device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Port {
    /// Its id.
    pub id: String,
    /// `bond0`, `eth0`, …
    pub name: String,
    /// The virtual networks it is in.
    #[serde(default)]
    pub virtual_networks: Vec<Reference>,
}

impl Device {
    /// Its own public IPv4 address.
    pub fn public_ipv4(&self) -> Option<IpAddr> {
        let own = self.ip_addresses.iter().filter(|own| own.management && own.address.is_ipv4());
        own.into_iter().find(|own| own.public).map(|own| own.address)
    }

    /// Its own addresses, public ones first.
    pub fn addresses(&self) -> Vec<IpAddr> {
        let mut own: Vec<&Address> = self.ip_addresses.iter().filter(|own| own.management).collect();
        own.sort_by_key(|own| (!own.public, own.address.is_ipv6()));
        own.into_iter().map(|own| own.address).collect()
    }
}

impl Client {
    /// All devices of a project with a tag.
    pub async fn devices_tagged(&self, project: &str, tag: &str) -> Result<Vec<Device>, Error> {
        let path = format!("projects/{project}/devices");
        let found: Vec<Device> = self.pages("listing devices", &path, &[("tag", tag)], "devices").await?;
        Ok(found.into_iter().filter(|device| device.tags.iter().any(|own| own == tag)).collect())
    }

    /// The device with an id.
    pub async fn device(&self, id: &str) -> Result<Option<Device>, Error> {
        self.get_existing("reading the device", &format!("devices/{id}")).await
    }

    /// Makes a device.
    pub async fn create_device(&self, project: &str, hostname: &str, body: &Value) -> Result<Device, Error> {
        self.post(&format!("making device {hostname}"), &format!("projects/{project}/devices"), body).await
    }

    /// Deletes a device, also one that is protected.
    pub async fn delete_device(&self, device: &Device) -> Result<(), Error> {
        let path = format!("devices/{}", device.id);
        if device.locked {
            let body = json!({"locked": false});
            self.send(&format!("unlocking device {}", device.hostname), Method::PATCH, &path, &body).await?;
        }
        self.delete(&format!("deleting device {}", device.hostname), &path).await
    }

    /// Has a device do something: `power_on`, `power_off`, `reboot`.
    pub async fn act_on_device(&self, device: &Device, action: &str) -> Result<(), Error> {
        let attempt = format!("{action} of device {}", device.hostname);
        self.send(&attempt, Method::POST, &format!("devices/{}/actions", device.id), &json!({"type": action})).await
    }

    /// Puts a port into a virtual network.
    pub async fn attach_port(&self, device: &Device, port: &Port, network: &str) -> Result<(), Error> {
        let attempt = format!("attaching device {} to a virtual network", device.hostname);
        self.send(&attempt, Method::POST, &format!("ports/{}/assign", port.id), &json!({"vnid": network})).await
    }

    /// What happened to the devices of a project, newest first.
    pub async fn events(&self, project: &str) -> Result<Vec<String>, Error> {
        let answer: Value = self.get("reading events", &format!("projects/{project}/events?per_page=200")).await?;
        let text = |event: &Value| {
            format!("{} {}: {}", event["created_at"], event["type"], event["interpolated"]).replace('"', "")
        };
        Ok(answer["events"].as_array().into_iter().flatten().map(text).collect())
    }
}
