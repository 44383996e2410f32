//! Machines that are fenced and replaced among strangers: of a machine that was fenced there are never two running instances.

use std::sync::Arc;

use landfall_engine::{Journal, apply, destroy};
use landfall_platform::{ErrorClass, MachineRef, Machines, Power, PowerState, StepError, error_chain};

use super::{
    ghost::{Ghost, Mood},
    judge::Known,
    trial::{options, plan, timely},
};
use crate::World;

/// Machines of one cluster that are fenced one after the other.
const ROUNDS: u64 = 6;
/// An operation that fails is repeated so often, as the controller would.
const ATTEMPTS: usize = 6;

/// Installs, fences and replaces machines, and removes all. Returns how many were fenced.
pub(super) async fn run(ghost: &Arc<Ghost>) -> u64 {
    let world = &ghost.world;
    let before = world.things();
    let home = tempfile::tempdir().expect("a directory for the journal");
    let journal = Journal::open(&home.path().join("journal.sqlite"), &world.infra_id()).expect("a journal");
    let (plan, binder, options) = (plan(world.as_ref() as &dyn World), world.binder(), options(|_| ()));
    timely(apply(&plan, binder.as_ref(), &journal, &options))
        .await
        .unwrap_or_else(|error| panic!("cannot make the cluster: {}", error_chain(&error)));
    let mut fenced = 0;
    for round in 0..ROUNDS {
        fenced += u64::from(timely(replace(ghost, round)).await);
        ghost.assert_others_untouched(&before, "a replacement");
    }
    let (binder, discoverer) = (world.binder(), world.discoverer());
    timely(destroy(binder.as_ref(), discoverer.as_ref(), &journal, &options))
        .await
        .unwrap_or_else(|error| panic!("cannot remove the cluster: {}", error_chain(&error)));
    ghost.assert_gone(&before, Known::All, ghost.calls(), "a removal after fencing");
    fenced
}

/// Makes a machine, fences it, deletes it and makes another, as the controller does. Returns true if it was fenced.
async fn replace(ghost: &Arc<Ghost>, round: u64) -> bool {
    let world = &ghost.world;
    let machines = world.machines();
    let (name, mut dice) = (format!("{}-worker-{round}", world.infra_id()), ghost.dice(u64::MAX - 100 - round));
    let made = match machines.ensure(&world.worker(&name), &|_| ()).await {
        Ok(made) => made,
        Err(error) => {
            // A look-alike of an earlier round has the name.
            ghost.tell(&format!("{name} cannot be made: {}", error_chain(&error)));
            return false;
        }
    };
    ghost.tell(&format!("{name} is {}", made.id));
    let known = MachineRef { name: &name, id: Some(&made.id) };
    ghost.be(Mood::Machine(made.id.clone()));
    let is_fenced = repeated(ghost, "fencing", || fence(&*machines, known)).await;
    if is_fenced {
        let thing = world.things().remove(&made.id);
        let running = thing.filter(|thing| thing.runs);
        assert!(running.is_none(), "{name} counts as fenced and runs: {running:?}");
    }
    // Another machine comes for one that was fenced or deleted, not before.
    let is_deleted = repeated(ghost, "deletion", || machines.delete(known, &|_| ())).await;
    if is_deleted {
        let left = world.things().remove(&made.id);
        assert!(left.is_none(), "{name} counts as deleted and is there: {left:?}");
    }
    if is_fenced || is_deleted {
        let next = if dice.once_in(2) { name.clone() } else { format!("{name}b") };
        let spec = world.worker(&next);
        let is_replaced =
            repeated(ghost, "replacement", || async { machines.ensure(&spec, &|_| ()).await.map(drop) }).await;
        ghost.be(Mood::Absent);
        let things = world.things();
        let is_it = |id: &String, thing: &super::Thing| *id == made.id || thing.is_marked && thing.name == name;
        let running: Vec<_> =
            things.iter().filter(|(id, thing)| thing.runs && is_it(id, thing)).map(|(_, thing)| &thing.line).collect();
        assert!(running.len() <= 1, "{name} was fenced and replaced ({is_replaced}), and there run {running:#?}");
    }
    ghost.be(Mood::Absent);
    is_fenced
}

/// As the controller fences: switches off, and makes sure.
async fn fence(machines: &dyn Machines, machine: MachineRef<'_>) -> Result<(), StepError> {
    match machines.power(machine, Power::Off).await {
        Err(error) if error.class() != ErrorClass::NotFound => return Err(error),
        _ => {}
    }
    match machines.get(machine).await?.filter(|found| found.power != PowerState::Off) {
        Some(running) => Err(StepError::new(ErrorClass::Transient, format!("{} is {}", running.name, running.state))),
        None => Ok(()),
    }
}

async fn repeated<T, F>(ghost: &Ghost, what: &str, mut attempt: impl FnMut() -> F) -> bool
where
    F: Future<Output = Result<T, StepError>>,
{
    for _ in 0..ATTEMPTS {
        match attempt().await {
            Ok(_) => {
                ghost.tell(&format!("{what} done"));
                return true;
            }
            Err(error) => ghost.tell(&format!("{what} failed: {}", error_chain(&error))),
        }
    }
    false
}
