//! What is done about an unhealthy machine.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Resource as _,
    api::{DynamicObject, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use landfall_machine_api::{EXTERNAL_REMEDIATION, ObjectReference, REMEDIATION};
use serde_json::json;

use super::judge::{Master, is_leaving, keeps_quorum};
use crate::{Error, Machine, MachineHealthCheck, error::status_code, events::Level, patch, world::World};

/// Annotation of a master that was made in place of another: whose.
const REPLACES: &str = "landfall.dev/replaces";

/// Does something about an unhealthy machine, or says why not.
pub(super) async fn remediate(
    world: &World,
    check: &MachineHealthCheck,
    machine: &Machine,
    reason: &str,
) -> Result<(), Error> {
    if let Some(template) = &check.spec.remediation_template {
        return ask_another(world, machine, template, reason).await;
    }
    if machine.annotation(EXTERNAL_REMEDIATION).is_some() {
        return Ok(());
    }
    if machine.is_master() {
        if !may_take_master(world, machine) {
            let message = "not replaced yet: etcd would lose its quorum, or another master is being replaced";
            world.events.say(machine, Level::Warning, "RemediationWaits", message).await;
            return Ok(());
        }
        // The new one exists before the old one is marked, so that a crash in between loses none.
        replace_master(world, machine).await?;
    } else if machine.controller().is_none() {
        let message = format!("{reason}, but nobody would make another machine in its place");
        world.events.say(machine, Level::Warning, "RemediationSkipped", &message).await;
        return Ok(());
    }
    patch::change(&world.api(), machine, json!({ "metadata": { "annotations": { REMEDIATION: reason } } })).await?;
    world.events.say(machine, Level::Warning, "Unhealthy", &format!("{reason}; it is fenced and replaced")).await;
    Ok(())
}

fn may_take_master(world: &World, machine: &Machine) -> bool {
    let replacement_of = |master: &Machine| master.annotation(REPLACES).map(str::to_owned);
    let masters = world.machines.filter(Machine::is_master);
    let others: Vec<_> = masters
        .iter()
        .filter(|other| other.uid() != machine.uid() && replacement_of(other).as_deref() != Some(machine.uid()))
        .map(|other| Master {
            ready: other.node_name().is_some_and(|name| world.nodes.is_ready(name)),
            // One that replaces another counts as on its way until its node is there.
            leaving: is_leaving(other) || other.annotation(REPLACES).is_some() && other.node_name().is_none(),
        })
        .collect();
    keeps_quorum(&others)
}

async fn replace_master(world: &World, machine: &Machine) -> Result<(), Error> {
    let stem = machine.name().rsplit_once('-').map_or(machine.name(), |(stem, _)| stem);
    // From the uid, so that a second attempt makes the same.
    let suffix: String = machine.uid().chars().filter(char::is_ascii_alphanumeric).take(5).collect();
    let mut annotations = machine.metadata.annotations.clone().unwrap_or_default();
    annotations.retain(|key, _| !key.starts_with("machine.openshift.io/"));
    annotations.insert(REPLACES.to_owned(), machine.uid().to_owned());
    let metadata = ObjectMeta {
        name: Some(format!("{stem}-{suffix}")),
        namespace: Some(world.options.namespace.clone()),
        labels: machine.metadata.labels.clone(),
        annotations: Some(annotations),
        ..ObjectMeta::default()
    };
    let mut spec = machine.spec.clone();
    spec.provider_id = None;
    match world.api().create(&PostParams::default(), &Machine::new(metadata, spec)).await {
        Err(error) if status_code(&error) != Some(409) => {
            Err(Error::api("creating the master that replaces another")(error))
        }
        _ => Ok(()),
    }
}

/// Makes an object from a template that another program acts on, once for each machine.
async fn ask_another(world: &World, machine: &Machine, template: &ObjectReference, reason: &str) -> Result<(), Error> {
    let (group, version) = template.api_version.split_once('/').unwrap_or(("", &template.api_version));
    let resource = |kind: &str| ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    let namespace = template.namespace.as_deref().unwrap_or(&world.options.namespace);
    let templates: Api<DynamicObject> =
        Api::namespaced_with(world.client.clone(), namespace, &resource(&template.kind));
    let found = templates
        .get(&template.name)
        .await
        .map_err(Error::api(format!("reading {} {}", template.kind, template.name)))?;
    let kind = template.kind.strip_suffix("Template").unwrap_or(&template.kind).to_owned();
    let mut request = DynamicObject::new(machine.name(), &resource(&kind));
    request.metadata.owner_references = Some(vec![k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference {
        api_version: Machine::api_version(&()).into_owned(),
        kind: Machine::kind(&()).into_owned(),
        name: machine.name().to_owned(),
        uid: machine.uid().to_owned(),
        controller: None,
        block_owner_deletion: None,
    }]);
    request.data = json!({ "spec": found.data["spec"]["template"]["spec"] });
    let requests: Api<DynamicObject> = Api::namespaced_with(world.client.clone(), namespace, &resource(&kind));
    match requests.create(&PostParams::default(), &request).await {
        Ok(_) => {
            let message = format!("{reason}; {kind} {} asks another program to act", machine.name());
            world.events.say(machine, Level::Warning, "Unhealthy", &message).await;
            Ok(())
        }
        Err(error) if status_code(&error) == Some(409) => Ok(()),
        Err(error) => Err(Error::api(format!("creating {kind} {}", machine.name()))(error)),
    }
}
