//! Virtual machines.

use std::net::IpAddr;

use landfall_wire::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Client, Workspace, session::To};
use crate::Error;

/// A virtual machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    /// Its id.
    #[serde(rename = "pvmInstanceID")]
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub server_name: String,
    /// Its state. Its health, which stays a warning where no agent of IBM's runs, is not looked at.
    #[serde(default)]
    pub status: InstanceStatus,
    /// What is being done with it: `deleting`, …
    #[serde(default)]
    pub task_state: String,
    /// Why it failed.
    #[serde(default)]
    pub fault: Option<InstanceFault>,
    /// Its ports.
    #[serde(default)]
    pub networks: Option<Vec<NetworkPort>>,
    /// The networks that it is in.
    #[serde(default, rename = "networkIDs")]
    pub network_ids: Option<Vec<String>>,
    /// Its tags. Only told where one machine is asked for.
    #[serde(default)]
    pub user_tags: Option<Vec<String>>,
}

/// Why a virtual machine failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct InstanceFault {
    /// In few words.
    #[serde(default)]
    pub message: String,
    /// In many.
    #[serde(default)]
    pub details: String,
}

/// A state of a virtual machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[allow(missing_docs, reason = "they are the API's words")]
pub enum InstanceStatus {
    Build,
    Active,
    Shutoff,
    Error,
    Reboot,
    HardReboot,
    Resize,
    VerifyResize,
    Deleting,
    #[default]
    #[serde(other)]
    Unknown,
}

/// A port of a virtual machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPort {
    /// Its address, if the platform chose it and not a DHCP server.
    #[serde(default)]
    pub ip_address: Option<String>,
    /// Its hardware address.
    #[serde(default)]
    pub mac_address: String,
    /// The name of its network.
    #[serde(default)]
    pub network_name: String,
}

impl Instance {
    /// Why it failed, for people.
    pub fn reason(&self) -> String {
        let fault = self.fault.clone().unwrap_or_default();
        let said: Vec<String> = [fault.message, fault.details].into_iter().filter(|text| !text.is_empty()).collect();
        if said.is_empty() { "the platform gives no reason".to_owned() } else { said.join(": ") }
    }

    /// Its ports.
    pub fn ports(&self) -> &[NetworkPort] {
        self.networks.as_deref().unwrap_or_default()
    }

    /// Returns true if it was asked for by itself and carries a tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.user_tags.iter().flatten().any(|own| own == tag)
    }

    /// Addresses that the platform knows by itself.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.ports().iter().filter_map(|port| port.ip_address.as_deref()?.parse().ok())
    }
}

impl Client {
    /// All virtual machines of a workspace. They come without pages.
    pub async fn instances(&self, workspace: &Workspace) -> Result<Vec<Instance>, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            pvm_instances: Vec<Instance>,
        }
        let path = workspace.path("pvm-instances");
        let answer: Answer = self.get("listing virtual machines", To::Power(workspace), &path).await?;
        Ok(answer.pvm_instances)
    }

    /// The virtual machine with an id, also one that no list shows: DHCP servers run on such.
    pub async fn instance(&self, workspace: &Workspace, id: &str) -> Result<Option<Instance>, Error> {
        let path = workspace.path(&format!("pvm-instances/{id}"));
        self.get_existing("reading the virtual machine", To::Power(workspace), &path).await
    }

    /// Makes a virtual machine. Returns its id, which the platform tells in a list of one.
    pub async fn create_instance(
        &self,
        workspace: &Workspace,
        name: &str,
        body: &Value,
    ) -> Result<Option<String>, Error> {
        let attempt = format!("making virtual machine {name}");
        let path = workspace.path("pvm-instances");
        let made: Value = self.post(&attempt, To::Power(workspace), &path, body).await?;
        Ok(made[0]["pvmInstanceID"].as_str().map(str::to_owned))
    }

    /// Has a virtual machine do something: `start`, `stop`, `immediate-shutdown`, `hard-reboot`.
    pub async fn act_on_instance(&self, workspace: &Workspace, instance: &Instance, action: &str) -> Result<(), Error> {
        let attempt = format!("{action} of virtual machine {}", instance.server_name);
        let path = workspace.path(&format!("pvm-instances/{}/action", instance.id));
        self.send(&attempt, To::Power(workspace), Method::POST, &path, Some(&json!({"action": action}))).await
    }

    /// Deletes a virtual machine with the disk that it boots from. Disks that others attached to it are kept.
    pub async fn delete_instance(&self, workspace: &Workspace, id: &str, name: &str) -> Result<(), Error> {
        let path = workspace.path(&format!("pvm-instances/{id}?delete_data_volumes=false"));
        self.delete(&format!("deleting virtual machine {name}"), To::Power(workspace), &path).await
    }
}
