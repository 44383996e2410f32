//! Instances of services: workspaces, object storage.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Client, session::To};
use crate::Error;

/// A service, with the plan that is bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceId {
    /// Its name, as the names of its instances for other services hold it.
    pub name: &'static str,
    /// Its id in the catalogue.
    pub service: &'static str,
    /// The id of the plan.
    pub plan: &'static str,
}

impl ServiceId {
    /// Power Virtual Server.
    pub const POWER: Self = Self {
        name: "power-iaas",
        service: "abd259f0-9990-11e8-acc8-b9f54a8f1661",
        plan: "f165dd34-3a40-423b-9d95-e90a23f724dd",
    };
    /// Object storage.
    pub const OBJECT_STORAGE: Self = Self {
        name: "cloud-object-storage",
        service: "dff97f5c-bc5e-4455-b470-411c3edbe49c",
        plan: "744bfc56-d12c-4866-88d5-dac9139e0e5d",
    };
    /// Internet Services, with public DNS zones. None is bought here.
    pub const INTERNET_SERVICES: Self =
        Self { name: "internet-svcs", service: "75874a60-cb12-11e7-948e-37ac098eb1b9", plan: "" };
    /// DNS Services, with private zones. None is bought here.
    pub const DNS_SERVICES: Self = Self { name: "dns-svcs", service: "b4ed8a30-936f-11e9-b289-1d079699cbe5", plan: "" };
}

/// An instance of a service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ResourceInstance {
    /// Its id.
    pub guid: String,
    /// Its name for other services.
    pub crn: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Where it is; the zone of a workspace.
    #[serde(default)]
    pub region_id: String,
    /// `active`, `provisioning`, `failed`, `pending_removal`, `removed`, `pending_reclamation`, …
    #[serde(default)]
    pub state: String,
    /// What is being done with it.
    #[serde(default)]
    pub last_operation: Option<Value>,
}

impl ResourceInstance {
    /// Whether it is on its way out, or gone.
    pub fn is_leaving(&self) -> bool {
        ["pending_removal", "removed", "pending_reclamation"].contains(&self.state.as_str())
    }

    /// What the service says about its last operation.
    pub fn reason(&self) -> String {
        let said = self.last_operation.as_ref().and_then(|operation| operation["description"].as_str());
        said.unwrap_or(&self.state).to_owned()
    }
}

/// What is kept for a while after it was deleted.
#[derive(Clone, Debug, Deserialize)]
struct Reclamation {
    id: String,
    #[serde(default)]
    resource_instance_id: String,
    #[serde(default)]
    state: String,
}

impl Client {
    /// All instances of a service.
    pub async fn resource_instances(&self, service: ServiceId) -> Result<Vec<ResourceInstance>, Error> {
        let path = format!("v2/resource_instances?resource_id={}", service.service);
        self.pages("listing instances of services", To::Resources, &path, "resources").await
    }

    /// The instances of a service with exactly this name.
    pub async fn resource_instances_named(
        &self,
        service: ServiceId,
        name: &str,
    ) -> Result<Vec<ResourceInstance>, Error> {
        let path = format!("v2/resource_instances?resource_id={}&name={name}", service.service);
        let found: Vec<ResourceInstance> =
            self.pages(&format!("looking for {name}"), To::Resources, &path, "resources").await?;
        Ok(found.into_iter().filter(|instance| instance.name == name).collect())
    }

    /// All workspaces of the account in a zone, whoever they belong to.
    pub async fn workspaces_in(&self, zone: &str) -> Result<Vec<ResourceInstance>, Error> {
        let path = format!("v2/resource_instances?resource_id={}", ServiceId::POWER.service);
        let found: Vec<ResourceInstance> = self.pages("listing workspaces", To::Resources, &path, "resources").await?;
        Ok(found.into_iter().filter(|instance| instance.region_id == zone).collect())
    }

    /// The instance with an id; one that is gone may be told for a while as removed.
    pub async fn resource_instance(&self, guid: &str) -> Result<Option<ResourceInstance>, Error> {
        let path = format!("v2/resource_instances/{guid}");
        self.get_existing(&format!("reading instance {guid}"), To::Resources, &path).await
    }

    /// Makes an instance.
    pub async fn create_resource_instance(
        &self,
        service: ServiceId,
        name: &str,
        target: &str,
        resource_group: &str,
        tags: &[String],
    ) -> Result<ResourceInstance, Error> {
        let body = json!({
            "name": name, "target": target, "resource_group": resource_group, "resource_plan_id": service.plan, "tags": tags,
        });
        self.post(&format!("making {name}"), To::Resources, "v2/resource_instances", &body).await
    }

    /// Deletes an instance with its keys.
    pub async fn delete_resource_instance(&self, instance: &ResourceInstance) -> Result<(), Error> {
        let path = format!("v2/resource_instances/{}?recursive=true", instance.guid);
        self.delete(&format!("deleting {}", instance.name), To::Resources, &path).await
    }

    /// Gives up what is kept of a deleted instance.
    pub async fn reclaim(&self, guid: &str) -> Result<(), Error> {
        let path = format!("v1/reclamations?resource_instance_id={guid}");
        let answer: Value = self.get("listing what is kept after deletion", To::Resources, &path).await?;
        let kept: Vec<Reclamation> = serde_json::from_value(answer["resources"].clone()).unwrap_or_default();
        // What is being given up already is left to it.
        let is_kept =
            |one: &&Reclamation| one.resource_instance_id == guid && ["SCHEDULED", ""].contains(&one.state.as_str());
        for one in kept.iter().filter(is_kept) {
            let path = format!("v1/reclamations/{}/actions/reclaim", one.id);
            let answer: Result<Value, Error> =
                self.post("giving up what is kept after deletion", To::Resources, &path, &json!({})).await;
            match answer {
                Err(error) if !error.is_gone() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}
