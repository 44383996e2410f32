//! Finds everything in an engine that carries a cluster's mark.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use landfall_platform::{Discover, InfraId, StepError, StepId, StepSpec};

use crate::{
    Client, Error, client,
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

    fn vm(&self, vm: &client::Vm) -> StepSpec {
        // What was renamed is not what the plan means by its new name.
        let id = vm.name.strip_prefix(&self.mark.name("")).unwrap_or(&vm.id);
        let title = format!("virtual machine {}", vm.name);
        found(format!("vm/{id}").into(), title, "vm", &Desired::Vm(Box::new(bare(vm))))
    }

    /// The cluster's templates, or what is left of the making of one.
    async fn templates(&self, has_machine: bool) -> Result<Vec<StepSpec>, Error> {
        let (name, image_name) = (self.mark.name("template"), image_name(&self.mark));
        let step = |id: StepId, title: &str, template: Option<String>| {
            let desired = Template {
                name: name.clone(),
                image_name: image_name.clone(),
                source: String::new(),
                cluster_id: String::new(),
                storage_domain_id: String::new(),
                vnic_profile_id: None,
                id: template,
            };
            found(id, format!("template {title}"), "template", &Desired::Template(desired))
        };
        let mut steps = Vec::new();
        for template in self.client.templates_marked(&self.mark).await? {
            let is_named = template.name == name && steps.is_empty();
            let id = if is_named { TEMPLATE_STEP.into() } else { format!("template/{}", template.id).into() };
            steps.push(step(id, &template.name, Some(template.id)));
        }
        let disks = self.client.disks_named(&image_name).await?;
        let is_begun = has_machine || disks.iter().any(|disk| self.mark.is_on(&disk.description));
        if is_begun && steps.iter().all(|step: &StepSpec| step.id.as_str() != TEMPLATE_STEP) {
            steps.push(step(TEMPLATE_STEP.into(), &name, None));
        }
        Ok(steps)
    }

    async fn affinity_groups(&self) -> Result<Vec<StepSpec>, Error> {
        let mut groups = Vec::new();
        for cluster_id in self.client.cluster_ids().await? {
            for group in self.client.affinity_groups(&cluster_id).await? {
                if self.mark.is_on(&group.description) {
                    let id = group.name.strip_prefix(&self.mark.name("")).unwrap_or(&group.id);
                    let id = format!("affinity-group/{id}");
                    let title = format!("affinity group {}", group.name);
                    let desired = AffinityGroup {
                        name: group.name,
                        description: group.description,
                        cluster_id: cluster_id.clone(),
                        priority: 0,
                        enforcing: false,
                        id: Some(group.id),
                    };
                    groups.push(found(id.into(), title, "affinity-group", &Desired::AffinityGroup(desired)));
                }
            }
        }
        Ok(groups)
    }

    async fn tags(&self) -> Result<Vec<StepSpec>, Error> {
        let own = self.client.tags().await?.into_iter().filter(|tag| self.mark.is_on(&tag.description));
        let step = |tag: client::Tag| {
            let is_named = tag.name == self.mark.infra_id().as_str();
            let id = if is_named { "tag".into() } else { format!("tag/{}", tag.id).into() };
            found(id, format!("tag {}", tag.name), "tag", &Desired::Tag(Tag { name: tag.name, id: Some(tag.id) }))
        };
        Ok(own.map(step).collect())
    }
}

#[async_trait]
impl Discover for Discovery {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        // A machine of which only disks are left is not found: disks carry names and no mark, and another cluster may be called
        // after this one's infra id.
        let mut vms = self.client.vms_marked(&self.mark).await?;
        let of_image = image_name(&self.mark);
        let has_machine = vms.iter().any(|vm| vm.name == of_image);
        vms.retain(|vm| vm.name != of_image);
        let mut rest = self.affinity_groups().await?;
        rest.extend(self.templates(has_machine).await?);
        rest.extend(self.tags().await?);
        // Machines go first: a tag or a group that is gone would leave them harder to find, and a template with thin
        // machines cannot be removed.
        let needs: Vec<StepId> = rest.iter().map(|spec| spec.id.clone()).collect();
        let vms = vms.iter().map(|vm| StepSpec { needs: needs.clone(), ..self.vm(vm) });
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

/// A machine of which only name and id matter, because it is going to be removed.
fn bare(vm: &client::Vm) -> Vm {
    Vm {
        name: vm.name.clone(),
        id: Some(vm.id.clone()),
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
