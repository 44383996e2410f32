//! Finds everything in an engine that carries a cluster's mark.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use landfall_platform::{Discover, InfraId, StepError, StepId, StepSpec};

use crate::{
    Client, Error,
    machines::{Size, Vm},
    mark::Mark,
    plan::{TEMPLATE_STEP, image_name},
    steps::{AffinityGroup, Desired, Tag, Template},
};

/// How long the removal of something that was found may take.
const TIMEOUT: Duration = Duration::from_mins(20);

/// Finds what belongs to one cluster.
pub struct Discovery {
    client: Arc<Client>,
    mark: Mark,
}

impl Discovery {
    /// Looks for the mark of a cluster, through a client.
    pub fn new(client: Arc<Client>, infra_id: &InfraId) -> Self {
        Self { client, mark: Mark::new(infra_id.clone()) }
    }

    /// Names of all machines of the cluster. A machine of which only disks are left is not among them: disks carry names and
    /// no mark, and another cluster may be called after this one's infra id.
    async fn vm_names(&self) -> Result<BTreeSet<String>, Error> {
        let vms = self.client.vms_named(&self.mark.name("")).await?;
        Ok(vms.into_iter().filter(|vm| self.mark.is_on(&vm.description)).map(|vm| vm.name).collect())
    }

    fn vm(&self, name: &str) -> StepSpec {
        let id = format!("vm/{}", self.suffix(name));
        found(id.into(), format!("virtual machine {name}"), "vm", &Desired::Vm(Box::new(bare(name.to_owned()))))
    }

    /// The cluster's own template, or what is left of the making of it.
    async fn template(&self, has_machine: bool) -> Result<Option<StepSpec>, Error> {
        let (name, image_name) = (self.mark.name("template"), image_name(&self.mark));
        let template = self.client.template(&name).await?;
        let disks = self.client.disks_named(&image_name).await?;
        let exists = has_machine
            || template.is_some_and(|template| self.mark.is_on(&template.description))
            || disks.iter().any(|disk| self.mark.is_on(&disk.description));
        Ok(exists.then(|| {
            let title = format!("template {name}");
            let desired = Template {
                name,
                image_name,
                source: String::new(),
                cluster_id: String::new(),
                storage_domain_id: String::new(),
                vnic_profile_id: None,
            };
            found(TEMPLATE_STEP.into(), title, "template", &Desired::Template(desired))
        }))
    }

    async fn affinity_groups(&self) -> Result<Vec<StepSpec>, Error> {
        let mut groups = Vec::new();
        for cluster_id in self.client.cluster_ids().await? {
            for group in self.client.affinity_groups(&cluster_id).await? {
                if self.mark.is_on(&group.description) {
                    let id = format!("affinity-group/{}", self.suffix(&group.name));
                    let title = format!("affinity group {}", group.name);
                    let desired = AffinityGroup {
                        name: group.name,
                        description: group.description,
                        cluster_id: cluster_id.clone(),
                        priority: 0,
                        enforcing: false,
                    };
                    groups.push(found(id.into(), title, "affinity-group", &Desired::AffinityGroup(desired)));
                }
            }
        }
        Ok(groups)
    }

    async fn tag(&self) -> Result<Option<StepSpec>, Error> {
        let tag = self.client.tag(self.mark.infra_id().as_str()).await?;
        Ok(tag
            .filter(|tag| self.mark.is_on(&tag.description))
            .map(|tag| found("tag".into(), format!("tag {}", tag.name), "tag", &Desired::Tag(Tag { name: tag.name }))))
    }

    /// What a plan calls the object: its name without the infra id.
    fn suffix<'a>(&self, name: &'a str) -> &'a str {
        name.strip_prefix(&self.mark.name("")).unwrap_or(name)
    }
}

#[async_trait]
impl Discover for Discovery {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        let mut vms = self.vm_names().await?;
        let machine_of_image = vms.remove(&image_name(&self.mark));
        let mut rest = self.affinity_groups().await?;
        rest.extend(self.template(machine_of_image).await?);
        rest.extend(self.tag().await?);
        // Machines go first: a tag or a group that is gone would leave them harder to find, and a template with thin
        // machines cannot be removed.
        let needs: Vec<StepId> = rest.iter().map(|spec| spec.id.clone()).collect();
        let vms = vms.iter().map(|name| StepSpec { needs: needs.clone(), ..self.vm(name) });
        Ok(rest.iter().cloned().chain(vms).collect())
    }
}

fn found(id: StepId, title: String, kind: &str, desired: &Desired) -> StepSpec {
    StepSpec {
        id,
        title,
        kind: kind.into(),
        needs: Vec::new(),
        timeout: TIMEOUT,
        desired: serde_json::to_value(desired).expect("what a step makes has string keys only"),
    }
}

/// A machine of which only the name matters, because it is going to be removed.
fn bare(name: String) -> Vm {
    Vm {
        name,
        role: String::new(),
        cluster_id: String::new(),
        template: String::new(),
        storage_domain_id: None,
        vnic_profile_id: None,
        size: Size::InstanceType(String::new()),
        os_disk_gib: 0,
        kind: String::new(),
        clone: false,
        sparse: None,
        format: None,
        hugepages: None,
        pinned: false,
        high_availability: false,
        affinity_groups: Vec::new(),
        tag: String::new(),
        ignition: String::new(),
    }
}
