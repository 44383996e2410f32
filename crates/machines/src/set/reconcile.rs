//! Looking at one set and doing what is to be done.

use std::{hash::BuildHasher as _, sync::Arc, time::Duration};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{
    Resource as _,
    api::{DeleteParams, ListParams, PostParams, Preconditions},
};
use landfall_machine_api::{MachineSetStatus, SET_LABEL};
use rand::Rng as _;
use serde_json::json;

use super::plan::{Change, change, members, status};
use crate::{Error, Machine, MachineSet, events::Level, nodes, patch, world::World};

/// Machines that are made or deleted by one look, so that status and scale follow in steps.
const BATCH: usize = 200;
/// Calls to the API server at a time.
const AT_ONCE: usize = 16;
/// Kubernetes' alphabet for generated names.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Looks at one set. Returns when to look again, if by then nothing has happened.
pub(crate) async fn reconcile(world: Arc<World>, name: String) -> Result<Option<Duration>, Error> {
    let Some(set) = world.sets.get(&name) else { return Ok(None) };
    if set.metadata.deletion_timestamp.is_some() {
        // Its machines go with it: the API server's garbage collection sees to that.
        return Ok(None);
    }
    let machines = world.machines.all();
    let found = members(&set, machines.iter().map(|machine| &**machine));
    for orphan in &found.orphans {
        adopt(&world, &set, orphan).await?;
    }
    let open = world.expectations.open(&name);
    let mut again = None;
    if found.orphans.is_empty() && open == 0 {
        let random = std::hash::RandomState::new();
        match change(&set, &found.own, |machine| random.hash_one(machine.uid())) {
            Change::Nothing => {}
            Change::Add(number) => {
                add(&world, &set, number.min(BATCH)).await?;
                again = (number > BATCH).then_some(Duration::ZERO);
            }
            Change::Remove(_) => {
                // Who marks a machine and then scales is heard on two watches, of which one may be behind. So it is asked anew who is to go.
                let listed = world.api::<Machine>().list(&ListParams::default()).await;
                let listed = listed.map_err(Error::api("listing the machines"))?.items;
                let own = members(&set, listed.iter()).own;
                let Change::Remove(names) = change(&set, &own, |machine| random.hash_one(machine.uid())) else {
                    return Ok(Some(Duration::ZERO));
                };
                let batch = &names[..names.len().min(BATCH)];
                remove(&world, &set, batch).await?;
                again = (names.len() > BATCH).then_some(Duration::ZERO);
            }
        }
    } else if open > 0 {
        again = Some(Duration::from_secs(1));
    }
    let now = Timestamp::now();
    let ready_since = |machine: &Machine| {
        let node = world.nodes.cache.get(machine.node_name()?)?;
        nodes::readiness(&node).filter(|(status, _)| *status == "True").map(|(_, since)| since)
    };
    let after = status(&set, &found.own, ready_since, now);
    let waits = after.ready_replicas > after.available_replicas;
    write(&world, &set, &after).await?;
    let soon = waits.then(|| Duration::from_secs(u64::try_from(set.spec.min_ready_seconds).unwrap_or(1).clamp(1, 30)));
    Ok(again.or(soon))
}

/// Writes the status, if it is another than before.
async fn write(world: &World, set: &MachineSet, after: &MachineSetStatus) -> Result<(), Error> {
    if set.status.as_ref() == Some(after) {
        return Ok(());
    }
    match patch::change_status(&world.api(), set, set.status.as_ref(), after).await {
        Err(error) if !error.is_missing() => Err(error),
        _ => Ok(()),
    }
}

async fn adopt(world: &World, set: &MachineSet, machine: &Machine) -> Result<(), Error> {
    let owners = machine.metadata.owner_references.iter().flatten().map(|owner| json!(owner));
    let owners: Vec<_> = owners.chain([json!(owner(set))]).collect();
    patch::change(&world.api(), machine, json!({ "metadata": { "ownerReferences": owners } })).await?;
    let message = format!("adopted machine {}", machine.name());
    world.events.say(set, Level::Normal, "Adopted", &message).await;
    Ok(())
}

async fn add(world: &World, set: &MachineSet, number: usize) -> Result<(), Error> {
    let api = world.api::<Machine>();
    let api = &api;
    stream::iter(0..number)
        .map(|_| async move {
            let machine = machine(world, set);
            world.expectations.expect(set.name(), machine.name());
            let created = api.create(&PostParams::default(), &machine).await;
            if let Err(kube::Error::Api(_)) = &created {
                // It was answered and refused. An answer that did not come says nothing.
                world.expectations.met(set.name(), machine.name());
            }
            created.map(drop).map_err(Error::api(format!("creating Machine {}", machine.name())))
        })
        .buffer_unordered(AT_ONCE)
        .try_collect::<()>()
        .await?;
    world.events.say(set, Level::Normal, "Created", &format!("created {number} machines")).await;
    Ok(())
}

async fn remove(world: &World, set: &MachineSet, names: &[String]) -> Result<(), Error> {
    let api = world.api::<Machine>();
    let api = &api;
    stream::iter(names.to_vec())
        .map(|name| async move {
            let name = &name;
            let Some(machine) = world.machines.get(name) else { return Ok(()) };
            let preconditions = Preconditions { uid: machine.metadata.uid.clone(), resource_version: None };
            let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
            world.expectations.expect(set.name(), name);
            let deleted =
                api.delete(name, &parameters).await.map(drop).map_err(Error::api(format!("deleting Machine {name}")));
            if deleted.is_err() {
                world.expectations.met(set.name(), name);
            }
            match deleted {
                Err(error) if !error.is_missing() => Err(error),
                _ => Ok(()),
            }
        })
        .buffer_unordered(AT_ONCE)
        .try_collect::<()>()
        .await?;
    world.events.say(set, Level::Normal, "Deleted", &format!("deleted {}", names.join(", "))).await;
    Ok(())
}

/// A further machine of a set. Its name is drawn here, so that one whose creation was not answered is known again.
fn machine(world: &World, set: &MachineSet) -> Machine {
    let suffix: String = (0..5).map(|_| char::from(ALPHABET[rand::rng().random_range(0..ALPHABET.len())])).collect();
    let template = &set.spec.template;
    let mut labels = template.metadata.labels.clone();
    labels.entry(SET_LABEL.to_owned()).or_insert_with(|| set.name().to_owned());
    let metadata = ObjectMeta {
        name: Some(format!("{}-{suffix}", set.name())),
        namespace: Some(world.options.namespace.clone()),
        labels: Some(labels),
        annotations: Some(template.metadata.annotations.clone()),
        owner_references: Some(vec![owner(set)]),
        ..ObjectMeta::default()
    };
    let mut spec = template.spec.clone();
    spec.provider_id = None;
    Machine::new(metadata, spec)
}

fn owner(set: &MachineSet) -> OwnerReference {
    OwnerReference {
        api_version: MachineSet::api_version(&()).into_owned(),
        kind: MachineSet::kind(&()).into_owned(),
        name: set.name().to_owned(),
        uid: set.uid().to_owned(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// The name of the set that controls a machine.
pub(crate) fn owner_of(machine: &Machine) -> Option<&str> {
    let owners = machine.metadata.owner_references.iter().flatten();
    let controller = owners.into_iter().find(|owner| owner.controller == Some(true) && owner.kind == "MachineSet");
    controller.map(|owner| owner.name.as_str())
}
