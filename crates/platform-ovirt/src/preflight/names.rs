//! Names: nothing that the plan makes may exist already, unless it is the cluster's own.

use futures::future::try_join_all;
use landfall_platform::{Finding, Stage};
use serde::Deserialize;

use super::{Subject, unanswered};
use crate::{Error, Facts, Mark, plan, steps::Desired};

const CHECK: &str = "names";

pub(super) async fn check(subject: &Subject<'_>, facts: &Facts) -> Vec<Finding> {
    let plan = match plan(subject.config, subject.infra_id, facts, Stage::Bootstrapping) {
        Ok(plan) => plan,
        Err(error) => return vec![Finding::problem(CHECK, error.to_string(), "report this as a bug")],
    };
    let mark = Mark::new(subject.infra_id.clone());
    let objects = plan.steps().filter_map(|spec| Desired::deserialize(&spec.desired).ok());
    let vms = subject.client.vms_named(&mark.name("")).await;
    let vms = match &vms {
        Ok(vms) => vms.iter().map(|vm| (vm.name.as_str(), vm.description.as_str())).collect::<Vec<_>>(),
        Err(error) => return vec![unanswered(CHECK, error)],
    };
    // The description of the object that has the name already, if there is one.
    let descriptions = try_join_all(objects.map(async |desired| {
        let client = subject.client;
        Ok::<_, Error>(Some(match desired {
            Desired::Tag(tag) => (format!("tag {}", tag.name), client.tag(&tag.name).await?.map(|tag| tag.description)),
            Desired::AffinityGroup(group) => {
                let groups = client.affinity_groups(&group.cluster_id).await?;
                let taken = groups.into_iter().find(|other| other.name == group.name);
                (format!("affinity group {}", group.name), taken.map(|group| group.description))
            }
            Desired::Template(template) => {
                let taken = client.template(&template.name).await?;
                (format!("template {}", template.name), taken.map(|template| template.description))
            }
            Desired::Vm(vm) => {
                let taken = vms.iter().find(|(name, _)| *name == vm.name);
                (format!("machine {}", vm.name), taken.map(|(_, description)| (*description).to_owned()))
            }
            // It has no name of its own.
            Desired::UserData(_) => return Ok(None),
        }))
    }))
    .await;
    let descriptions: Vec<_> = match descriptions {
        Ok(descriptions) => descriptions.into_iter().flatten().collect(),
        Err(error) => return vec![unanswered(CHECK, &error)],
    };
    let is_taken = |description: &Option<String>| description.as_ref().is_some_and(|text| !mark.is_on(text));
    let taken: Vec<&str> =
        descriptions.iter().filter(|(_, description)| is_taken(description)).map(|(name, _)| name.as_str()).collect();
    let own = descriptions.iter().filter(|(_, description)| description.is_some()).count() - taken.len();
    vec![if !taken.is_empty() {
        let message = format!("taken by objects that do not belong to the cluster: {}", taken.join(", "));
        Finding::problem(CHECK, message, "rename or remove what is in the way; it is never touched from here")
    } else if own > 0 {
        Finding::ok(CHECK, format!("{own} of {} objects exist from an earlier run", descriptions.len()))
    } else {
        Finding::ok(CHECK, format!("all {} are free", descriptions.len()))
    }]
}
