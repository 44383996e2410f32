//! How entities change over time: the state machines, and what follows from each change.

pub(crate) mod commands;
pub(crate) mod enforcement;
pub(crate) mod guests;
pub(crate) mod hosts;
pub(crate) mod jobs;
pub(crate) mod operations;
pub(crate) mod power;
pub(crate) mod removal;
pub(crate) mod snapshots;
pub(crate) mod transfer;
pub(crate) mod transfers;
pub(crate) mod vm;

pub(crate) use operations::Operation;

use super::agenda::Due;
use super::model::JobStatus;
use super::state::{Cause, State};
use crate::core::Instant;

/// Carries out everything that is due by `now`, each at its own time.
pub(crate) fn advance(state: &mut State, now: Instant) {
    state.cause = Cause::default();
    while let Some((at, due)) = state.agenda.pop(now) {
        state.now = at;
        match due {
            Due::Vm(id, event) => power::due(state, id, event),
            Due::Transfer(id, event) => transfers::due(state, id, event),
            Due::Operation(job) => drop(operations::finish(state, job)),
            Due::JobEnds(job) => jobs::end(state, job, JobStatus::Finished),
            Due::Host(id) => hosts::due(state, id),
            Due::EnforceAffinity => enforcement::due(state),
        }
    }
    state.now = now.max(state.now);
}
