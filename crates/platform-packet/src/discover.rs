//! Finds everything in an account that carries a cluster's mark.

use std::time::Duration;

use async_trait::async_trait;
use landfall_config::packet::Location;
use landfall_platform::{Discover, StepError, StepId, StepSpec};
use serde_json::json;

use crate::{
    Error, Mark, Site,
    plan::{PROJECT, elastic},
    steps::{Addresses, Desired, Network, ProjectStep, SshKeyStep},
};

/// How long the removal of something that was found may take.
const TIMEOUT: Duration = Duration::from_mins(30);

/// Finds what belongs to one cluster.
pub struct Discovery {
    site: Site,
}

impl Discovery {
    /// Looks for the mark of a cluster.
    pub fn new(site: Site) -> Self {
        Self { site }
    }

    async fn find(&self) -> Result<Vec<StepSpec>, Error> {
        let (client, mark) = (&self.site.client, &self.site.mark);
        let own = self.site.find_project().await?;
        let projects = client.projects().await?;
        let own = projects.into_iter().find(|project| Some(&project.id) == own.as_ref() && mark.is_on(&project.tags));
        let project: Option<StepSpec> = own.map(|project| {
            let title = format!("project {}", project.name);
            let desired = ProjectStep { name: project.name.clone(), organization: None, tags: Vec::new() };
            found(PROJECT.into(), title, "project", Vec::new(), &Desired::Project(desired), &project.id)
        });
        let needs: Vec<StepId> = project.iter().map(|step| step.id.clone()).collect();
        let nowhere = || Location::Metro(String::new());
        let mut rest: Vec<StepSpec> = Vec::new();
        for project in self.site.projects().await? {
            for block in client.blocks(&project).await?.into_iter().filter(|block| mark.is_on(&block.tags)) {
                let name = Mark::name_in(&block.tags).unwrap_or_default().to_owned();
                let is_endpoint = ["api", "ingress"].contains(&name.as_str());
                let id = if is_endpoint { elastic(&name) } else { format!("address-block/{name}").into() };
                let title = format!("addresses {}/{} for {name}", block.network, block.cidr);
                let desired = Addresses {
                    name,
                    kind: String::new(),
                    quantity: 0,
                    location: nowhere(),
                    given: None,
                    tags: Vec::new(),
                };
                rest.push(found(id, title, "addresses", needs.clone(), &Desired::Addresses(desired), &block.id));
            }
            for key in client.ssh_keys(&project).await?.into_iter().filter(|key| mark.is_on(&key.tags)) {
                // What was renamed is not what the plan means by its new name.
                let is_named = Mark::name_in(&key.tags) == Some(&key.label);
                let id = format!("ssh-key/{}", if is_named { &key.label } else { &key.id });
                let title = format!("SSH key {}", key.label);
                let desired = SshKeyStep { label: key.label, key: String::new(), id: Some(key.id.clone()) };
                rest.push(found(id.into(), title, "ssh-key", needs.clone(), &Desired::SshKey(desired), &key.id));
            }
            for network in client.virtual_networks(&project).await?.into_iter().filter(|net| mark.is_on(&net.tags)) {
                let name = Mark::name_in(&network.tags).unwrap_or_default().to_owned();
                let (id, title) = (format!("virtual-network/{name}"), format!("virtual network {}", network.vxlan));
                let desired = Network { name, location: nowhere(), vxlan: None, tags: Vec::new() };
                rest.push(found(
                    id.into(),
                    title,
                    "virtual-network",
                    needs.clone(),
                    &Desired::Network(desired),
                    &network.id,
                ));
            }
        }
        // Machines go first: what is attached to them cannot go before.
        let needs: Vec<StepId> = needs.into_iter().chain(rest.iter().map(|step| step.id.clone())).collect();
        let mut machines: Vec<StepSpec> = Vec::new();
        for device in self.site.devices().await?.iter() {
            // What was renamed is not what the plan means by its new name, and a name may be there twice.
            let suffix = device.hostname.strip_prefix(&mark.name(""));
            let is_taken =
                |suffix: &&str| machines.iter().any(|known| known.id == StepId::from(format!("vm/{suffix}")));
            let suffix = suffix.filter(|suffix| !is_taken(suffix)).unwrap_or(&device.id);
            machines.push(StepSpec {
                id: format!("vm/{suffix}").into(),
                title: format!("machine {}", device.hostname),
                kind: "vm".into(),
                needs: needs.clone(),
                timeout: TIMEOUT,
                desired: json!({"object": "device", "name": device.hostname, "id": device.id}),
            });
        }
        Ok(project.into_iter().chain(rest).chain(machines).collect())
    }
}

#[async_trait]
impl Discover for Discovery {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        Ok(self.find().await?)
    }
}

/// A step that removes what was found. Its id tells what was renamed from what a plan means by that name.
fn found(id: StepId, title: String, kind: &str, needs: Vec<StepId>, desired: &Desired, object: &str) -> StepSpec {
    let mut desired = serde_json::to_value(desired).expect("what a step makes has string keys only");
    desired["id"] = json!(object);
    StepSpec { id, title, kind: kind.into(), needs, timeout: TIMEOUT, desired }
}
