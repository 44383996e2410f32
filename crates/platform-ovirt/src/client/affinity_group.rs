//! Affinity groups of a cluster.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Reference;
use crate::{Client, Error};

/// An affinity group.
#[derive(Clone, Debug, Deserialize)]
pub struct AffinityGroup {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its description.
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    vms: Members,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Members {
    #[serde(default)]
    vm: Vec<Reference>,
}

#[derive(Deserialize)]
struct AffinityGroups {
    #[serde(default)]
    affinity_group: Vec<AffinityGroup>,
}

impl AffinityGroup {
    /// Whether a machine is in the group.
    pub fn holds(&self, vm_id: &str) -> bool {
        self.vms.vm.iter().any(|vm| vm.id == vm_id)
    }
}

impl Client {
    /// All affinity groups of a cluster; a cluster that does not exist has none.
    pub async fn affinity_groups(&self, cluster_id: &str) -> Result<Vec<AffinityGroup>, Error> {
        let groups: Option<AffinityGroups> =
            self.get_existing(&format!("clusters/{cluster_id}/affinitygroups")).await?;
        Ok(groups.map(|groups| groups.affinity_group).unwrap_or_default())
    }

    /// Creates a group that keeps its machines on different hosts.
    pub async fn create_affinity_group(
        &self,
        cluster_id: &str,
        name: &str,
        description: &str,
        priority: u8,
        enforcing: bool,
    ) -> Result<AffinityGroup, Error> {
        let body = json!({
            "name": name,
            "description": description,
            "priority": priority.to_string(),
            "vms_rule": { "enabled": "true", "positive": "false", "enforcing": enforcing.to_string() },
            "hosts_rule": { "enabled": "false", "positive": "false", "enforcing": "false" },
        });
        let path = format!("clusters/{cluster_id}/affinitygroups");
        self.post(&format!("creating affinity group {name}"), &path, &body).await
    }

    /// Puts a machine into a group.
    pub async fn join_affinity_group(&self, cluster_id: &str, group: &AffinityGroup, vm_id: &str) -> Result<(), Error> {
        let path = format!("clusters/{cluster_id}/affinitygroups/{}/vms", group.id);
        let _: Value = self
            .post(&format!("adding a machine to affinity group {}", group.name), &path, &json!({ "id": vm_id }))
            .await?;
        Ok(())
    }

    /// Deletes a group.
    pub async fn delete_affinity_group(&self, cluster_id: &str, group: &AffinityGroup) -> Result<(), Error> {
        let path = format!("clusters/{cluster_id}/affinitygroups/{}", group.id);
        self.delete(&format!("deleting affinity group {}", group.name), &path).await
    }
}
