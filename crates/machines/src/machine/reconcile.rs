//! Looking at one machine and doing what is to be done next.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{DeleteParams, Preconditions},
};
use landfall_machine_api::{
    DRAINABLE, ErrorReason, FINALIZER, HOOK_PRESENT, INSTANCE_STATE, MachineStatus, ROLE_LABEL, TERMINABLE,
    provider::Shared, set_condition,
};
use landfall_platform::{
    ErrorClass, Machine as Instance, MachineRef, MachineSpec, Machines, Power, PowerState, StepError, WantedMachine,
    error_chain,
};
use serde_json::json;

use super::{
    CREATED, DRAINED, FENCED,
    decide::{Act, View, decide},
    drain::{Drain, drain},
    link::link,
    operations::{Kind, Reporter, Standing},
    status::{Facts, Failure, status},
};
use crate::{
    Error, Machine,
    events::Level,
    nodes, patch,
    platforms::{Platform, Sight},
    world::World,
};

/// How often progress is written while something is under way.
const PROGRESS: Duration = Duration::from_secs(15);

/// Looks at one machine. Returns when to look again, if by then nothing has happened.
pub(crate) async fn reconcile(world: Arc<World>, name: String) -> Result<Option<Duration>, Error> {
    let Some(machine) = world.machines.get(&name) else {
        world.operations.forget(&name);
        world.refusals.forget(&name);
        return Ok(None);
    };
    Look { world, machine }.run().await
}

/// One look at a machine.
struct Look {
    world: Arc<World>,
    machine: Arc<Machine>,
}

impl Look {
    async fn run(mut self) -> Result<Option<Duration>, Error> {
        let platform = match self.platform().await {
            Ok(platform) => platform,
            Err(error) if self.machine.is_deleting() && !self.machine.has_finalizer() => {
                tracing::debug!(error = error_chain(&error), "a machine that nobody waits for");
                return Ok(None);
            }
            Err(error @ (Error::Kind(_) | Error::ProviderSpec(_))) => return self.refuse(&error).await,
            Err(error) => {
                self.say(Level::Warning, "PlatformUnavailable", &error_chain(&error)).await;
                return Err(error);
            }
        };
        let sight = platform.sight(&self.machine);
        let node = self.world.nodes.of(&self.machine, &*platform.provider);
        let standing = self.world.operations.standing(self.machine.name(), self.machine.uid());
        let drainable = node.as_deref().is_some_and(answers);
        let removed = matches!(standing, Standing::Ended(Kind::Delete, Ok(_)));
        let act = decide(&View { machine: &self.machine, sight: &sight, drainable, removed });
        let seen = Seen { platform, sight, node, standing };
        match act {
            Act::Observe => self.observe(&seen, None).await,
            Act::AwaitDrainHooks => self.hold(&seen, DRAINABLE).await,
            Act::AwaitRemovalHooks => self.hold(&seen, TERMINABLE).await,
            Act::TakeOn => {
                self.take_on().await?;
                // The change itself brings the machine here again.
                Ok(None)
            }
            Act::Create => self.create(seen).await,
            Act::Confirm => self.confirm(seen).await,
            Act::Fence => self.fence(seen).await,
            Act::Discard => self.discard().await,
            Act::Drain => self.drain(seen).await,
            Act::Remove => self.remove(seen).await,
            Act::Release => self.release(seen).await,
        }
    }

    async fn platform(&self) -> Result<Arc<Platform>, Error> {
        self.world.platforms.get(&self.shared()?).await
    }

    fn shared(&self) -> Result<Shared, Error> {
        Shared::read(&self.machine.spec.provider_spec.value).map_err(|error| Error::ProviderSpec(error.to_string()))
    }

    /// A machine that no platform understands is given up. One that is to go has nothing anywhere, and goes.
    async fn refuse(mut self, error: &Error) -> Result<Option<Duration>, Error> {
        if self.machine.is_deleting() {
            self.let_go().await?;
            return Ok(None);
        }
        let mut status = self.machine.status.clone().unwrap_or_default();
        status.error_reason = Some(ErrorReason::InvalidConfiguration);
        status.error_message = Some(error_chain(error));
        status.phase = Some(landfall_machine_api::Phase::Failed);
        self.say(Level::Warning, "InvalidConfiguration", &error_chain(error)).await;
        self.write(status).await?;
        Ok(None)
    }

    async fn take_on(&mut self) -> Result<(), Error> {
        let finalizers = self.machine.metadata.finalizers.iter().flatten().cloned();
        let finalizers: Vec<_> = finalizers.chain([FINALIZER.to_owned()]).collect();
        self.change(json!({ "metadata": { "finalizers": finalizers } })).await
    }

    /// Says what is so, and writes the ids and links that follow from it.
    async fn observe(&mut self, seen: &Seen, failure: Option<Failure>) -> Result<Option<Duration>, Error> {
        if let Sight::There(instance) = &seen.sight
            && self.machine.annotation(INSTANCE_STATE) != Some(&instance.state)
        {
            self.change(json!({ "metadata": { "annotations": { INSTANCE_STATE: instance.state } } })).await?;
        }
        if let Some(node) = &seen.node
            && !self.machine.is_deleting()
        {
            link(&self.world, &self.machine, node).await?;
        }
        if let Some(failure) = &failure {
            self.say(Level::Warning, "Failed", &failure.message).await;
        }
        let busy = matches!(seen.standing, Standing::Busy(..) | Standing::Waiting(_));
        let status = self.status(seen, failure);
        self.write(status).await?;
        Ok(busy.then_some(PROGRESS))
    }

    /// Says whose hooks hold the deletion. That they are gone brings the machine here again.
    async fn hold(&mut self, seen: &Seen, condition: &str) -> Result<Option<Duration>, Error> {
        let hooks = &self.machine.spec.lifecycle_hooks;
        let hooks = if condition == DRAINABLE { &hooks.pre_drain } else { &hooks.pre_terminate };
        let holders: Vec<_> = hooks.iter().map(|hook| format!("{} of {}", hook.name, hook.owner)).collect();
        let mut status = self.status(seen, None);
        let message = format!("held by {}", holders.join(", "));
        set_condition(&mut status.conditions, condition, false, HOOK_PRESENT, &message, &now());
        self.write(status).await?;
        Ok(None)
    }

    async fn create(mut self, seen: Seen) -> Result<Option<Duration>, Error> {
        match &seen.standing {
            Standing::Busy(..) | Standing::Waiting(_) => self.observe(&seen, None).await,
            Standing::Ended(Kind::Create, Ok(Some(instance))) => {
                self.has(instance).await?;
                self.world.refusals.forget(self.machine.name());
                let node = self.world.nodes.of(&self.machine, &*seen.platform.provider);
                self.observe(&Seen { node, ..seen }, None).await
            }
            Standing::Ended(Kind::Create, Err(error)) => {
                let error = Arc::clone(error);
                if let Some(failure) = terminal(&error) {
                    self.say(Level::Warning, "CreateFailed", &error_chain(&*error)).await;
                    self.observe(&seen, Some(failure)).await?;
                    self.world.operations.forget(self.machine.name());
                    return Ok(None);
                }
                if let Some(rest) = self.unanswered(&seen) {
                    self.observe(&seen, None).await?;
                    return Ok(Some(rest));
                }
                self.refused(&seen, Kind::Create, "CreateFailed", &error).await
            }
            Standing::Ended(..) | Standing::Idle => self.begin_creation(seen).await,
        }
    }

    /// An operation was refused or failed: it is tried again after a pause that grows with each failure, however far the operation
    /// came before it failed. Only what is new is told.
    async fn refused(
        &mut self,
        seen: &Seen,
        kind: Kind,
        reason: &str,
        error: &StepError,
    ) -> Result<Option<Duration>, Error> {
        let (name, uid, gate) = (self.machine.name().to_owned(), self.machine.uid().to_owned(), &seen.platform.gate);
        if kind == Kind::Create {
            gate.refused(error);
        }
        let consequence = self.world.refusals.record(&name, &uid, kind, error, gate);
        let pause_ms = consequence.pause.as_millis();
        if consequence.is_news {
            self.say(Level::Warning, reason, &error_chain(error)).await;
        } else {
            tracing::debug!(name, reason, pause_ms, error = error_chain(error), "failed again");
        }
        self.observe(seen, None).await?;
        self.world.operations.forget(&name);
        Ok(Some(consequence.pause))
    }

    /// How long the machine must wait before an operation of a kind, because it was refused before.
    fn rest(&self, seen: &Seen, kind: Kind) -> Option<Duration> {
        self.world.refusals.rest(self.machine.name(), self.machine.uid(), kind, &seen.platform.gate)
    }

    /// The instance as the platform knows it: by its id, once that is known.
    fn instance(&self) -> MachineRef<'_> {
        MachineRef::known(self.machine.name(), self.machine.provider_id())
    }

    /// Takes note of the instance that was made. From here on the machine has it and never gets another.
    async fn has(&mut self, instance: &Instance) -> Result<(), Error> {
        let (id, state) = (&instance.provider_id, &instance.state);
        let change = json!({ "metadata": { "annotations": { INSTANCE_STATE: state } }, "spec": { "providerID": id } });
        self.change(change).await?;
        self.say(Level::Normal, "Created", &format!("instance {id} runs")).await;
        Ok(())
    }

    async fn begin_creation(mut self, mut seen: Seen) -> Result<Option<Duration>, Error> {
        if !seen.platform.is_reachable() {
            // The listing that succeeds brings it here again.
            self.say(Level::Warning, "PlatformUnavailable", "the machines could not be listed; made once they can")
                .await;
            return self.observe(&seen, None).await;
        }
        if let Some(rest) = self.unanswered(&seen).or_else(|| self.rest(&seen, Kind::Create)) {
            self.observe(&seen, None).await?;
            return Ok(Some(rest));
        }
        let shared = self.shared()?;
        let wanted = WantedMachine {
            name: self.machine.name(),
            role: self.machine.label(ROLE_LABEL).unwrap_or("worker"),
            infra_id: &self.world.options.infra_id,
            provider_spec: &self.machine.spec.provider_spec.value,
        };
        let platform_spec = match seen.platform.provider.machine(&wanted) {
            Ok(spec) => spec,
            Err(error) => {
                let failure = Failure { reason: ErrorReason::InvalidConfiguration, message: error_chain(&error) };
                return self.observe(&seen, Some(failure)).await;
            }
        };
        let user_data = match self.world.platforms.user_data(&shared, &self.machine).await {
            Ok(user_data) => user_data,
            Err(error) => {
                self.say(Level::Warning, "UserDataMissing", &error_chain(&error)).await;
                return Err(error);
            }
        };
        let spec = MachineSpec { name: self.machine.name().to_owned(), user_data, platform: platform_spec };
        if let Err(rest) = seen.platform.gate.enter() {
            let mut status = self.status(&seen, None);
            let message = "waits for its turn: the platform refused other machines";
            set_condition(&mut status.conditions, CREATED, false, seen.platform.gate.reason(), message, &now());
            self.write(status).await?;
            return Ok(Some(rest));
        }
        // Written before anything is asked for: a machine of which this is not written has no instance, and never had.
        seen.standing = Standing::Waiting(Kind::Create);
        let again = self.observe(&seen, None).await?;
        // Weak: the world owns the operation, and ends it when it is dropped.
        let world = Arc::downgrade(&self.world);
        self.operate(Kind::Create, &seen.platform, move |platform, reporter| async move {
            let instance = platform.connection.machines.ensure(&spec, &|text| reporter.report(text)).await?;
            platform.learn(instance.clone());
            if platform.gate.succeeded()
                && let Some(world) = world.upgrade()
            {
                world.wake_machines();
            }
            Ok(Some(instance))
        });
        Ok(again)
    }

    /// For how long a request for the instance, of this process or of one before it, may still have an effect that is not seen yet, where another would make a
    /// second instance.
    fn unanswered(&self, seen: &Seen) -> Option<Duration> {
        if !seen.platform.provider.allows_doubles() || matches!(seen.sight, Sight::There(_)) {
            return None;
        }
        let sent_before = match &seen.standing {
            Standing::Ended(Kind::Create, Err(error)) if is_ambiguous(error) => {
                self.world.operations.ended_for(self.machine.name())?
            }
            // It was begun and did not end: whoever began it was gone before this process led.
            Standing::Idle => {
                let last = self.machine.status.as_ref()?.last_operation.as_ref()?;
                let was_begun = last.kind == Kind::Create.name() && last.state == "Processing";
                was_begun.then(|| self.world.begun.elapsed())?
            }
            _ => return None,
        };
        self.world.options.pace.in_flight.checked_sub(sent_before).filter(|rest| !rest.is_zero())
    }

    /// The listing did not show the instance. One that is really gone cannot come back: the machine has failed.
    async fn confirm(mut self, seen: Seen) -> Result<Option<Duration>, Error> {
        let name = self.machine.name().to_owned();
        let found = seen.platform.connection.machines.get(self.instance()).await;
        let found =
            found.map_err(|source| Error::Platform { attempt: format!("looking for instance {name}"), source })?;
        if let Some(instance) = found {
            seen.platform.learn(instance.clone());
            return self.observe(&Seen { sight: Sight::There(Arc::new(instance)), ..seen }, None).await;
        }
        let id = self.machine.provider_id().unwrap_or_default();
        let message =
            format!("instance {id} was there and is gone; delete the machine, or let a health check replace it");
        self.observe(&seen, Some(Failure { reason: ErrorReason::InstanceMissing, message })).await
    }

    async fn fence(mut self, seen: Seen) -> Result<Option<Duration>, Error> {
        match &seen.standing {
            Standing::Busy(Kind::Fence, _) | Standing::Waiting(Kind::Fence) => self.observe(&seen, None).await,
            Standing::Ended(Kind::Fence, Ok(_)) => {
                self.world.refusals.forget(self.machine.name());
                self.say(Level::Normal, "Fenced", "the instance is off").await;
                let mut status = self.status(&seen, None);
                set_condition(&mut status.conditions, FENCED, true, "PowerOff", "the instance is off", &now());
                self.write(status).await?;
                Ok(None)
            }
            Standing::Ended(Kind::Fence, Err(error)) => {
                let error = Arc::clone(error);
                self.refused(&seen, Kind::Fence, "FenceFailed", &error).await
            }
            Standing::Busy(..) | Standing::Waiting(_) | Standing::Ended(..) | Standing::Idle => {
                if !seen.platform.is_reachable() {
                    return self.observe(&seen, None).await;
                }
                if let Some(rest) = self.rest(&seen, Kind::Fence) {
                    self.observe(&seen, None).await?;
                    return Ok(Some(rest));
                }
                self.world.operations.cut_off(self.machine.name()).await;
                let (name, id) = (self.machine.name().to_owned(), self.machine.provider_id().map(str::to_owned));
                self.operate(Kind::Fence, &seen.platform, move |platform, _| async move {
                    let machine = MachineRef::known(&name, id.as_deref());
                    if let Some(instance) = fence(&*platform.connection.machines, machine).await? {
                        platform.learn(instance);
                    }
                    Ok(None)
                });
                let standing = self.world.operations.standing(self.machine.name(), self.machine.uid());
                self.observe(&Seen { standing, ..seen }, None).await
            }
        }
    }

    /// Marks the object of a fenced instance as deleted. A set makes another in its place.
    async fn discard(self) -> Result<Option<Duration>, Error> {
        let preconditions = Preconditions { uid: self.machine.metadata.uid.clone(), resource_version: None };
        let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
        let api: Api<Machine> = self.world.api();
        let name = self.machine.name();
        match api.delete(name, &parameters).await.map_err(Error::api(format!("deleting Machine {name}"))) {
            Err(error) if !error.is_missing() => Err(error),
            _ => Ok(None),
        }
    }

    async fn drain(mut self, seen: Seen) -> Result<Option<Duration>, Error> {
        let Some(node) = seen.node.clone() else { return Ok(None) };
        let limit = self.world.options.pace.drain_timeout;
        let late = self.deleted_for(limit);
        let mut status = self.status(&seen, None);
        let (drained, again) = match drain(&self.world, &node).await? {
            Drain::Done => {
                self.say(Level::Normal, "Drained", &format!("node {} is drained", nodes::name(&node))).await;
                ((true, "Drained", String::new()), None)
            }
            Drain::Waiting(why) if late => {
                let message = format!("{why}; not waited for any longer");
                self.say(Level::Warning, "DrainTimeout", &message).await;
                ((true, "Timeout", message), None)
            }
            Drain::Waiting(why) => {
                self.say(Level::Normal, "Draining", &why).await;
                ((false, "Draining", why), Some(self.world.options.pace.poll))
            }
        };
        let (is_so, reason, message) = drained;
        set_condition(&mut status.conditions, DRAINED, is_so, reason, &message, &now());
        self.write(status).await?;
        Ok(again)
    }

    async fn remove(mut self, seen: Seen) -> Result<Option<Duration>, Error> {
        let in_flight = self.world.options.pace.in_flight;
        match &seen.standing {
            Standing::Busy(Kind::Clear | Kind::Delete, _) | Standing::Waiting(Kind::Clear | Kind::Delete) => {
                self.observe(&seen, None).await
            }
            // Whoever hangs up in the middle of a creation does not learn of its instance. What is seen can be deleted; what is not is waited for.
            Standing::Busy(Kind::Create, _)
                if !matches!(seen.sight, Sight::There(_)) && !self.deleted_for(in_flight) =>
            {
                self.observe(&seen, None).await?;
                Ok(Some(self.world.options.pace.poll))
            }
            Standing::Ended(Kind::Create, Ok(Some(instance))) if self.machine.provider_id().is_none() => {
                self.has(instance).await?;
                self.begin_removal(seen, Kind::Delete).await
            }
            Standing::Ended(Kind::Clear, Ok(_)) => {
                let waited = self.world.operations.ended_for(self.machine.name()).unwrap_or_default();
                match in_flight.checked_sub(waited).filter(|rest| !rest.is_zero()) {
                    Some(rest) => {
                        self.observe(&seen, None).await?;
                        Ok(Some(rest))
                    }
                    None => self.begin_removal(seen, Kind::Delete).await,
                }
            }
            Standing::Ended(Kind::Clear | Kind::Delete, Err(error)) => {
                let error = Arc::clone(error);
                self.refused(&seen, Kind::Delete, "DeleteFailed", &error).await
            }
            Standing::Busy(..) | Standing::Waiting(_) | Standing::Ended(..) | Standing::Idle => {
                let kind = if self.is_settled(&seen) { Kind::Delete } else { Kind::Clear };
                self.begin_removal(seen, kind).await
            }
        }
    }

    /// Whether no request can be on its way that makes the instance: it was made, or none was ever sent. One that was cut off, by this process or by one
    /// before it, may still come through.
    fn is_settled(&self, seen: &Seen) -> bool {
        let nothing_begun = self.machine.status.as_ref().is_none_or(|status| status.last_operation.is_none());
        self.machine.provider_id().is_some() || (nothing_begun && !matches!(seen.standing, Standing::Busy(..)))
    }

    /// Whether the machine was marked as deleted at least so long ago.
    fn deleted_for(&self, limit: Duration) -> bool {
        let marked = self.machine.metadata.deletion_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
        Timestamp::now().duration_since(marked).unsigned_abs() > limit
    }

    async fn begin_removal(mut self, seen: Seen, kind: Kind) -> Result<Option<Duration>, Error> {
        if !seen.platform.is_reachable() {
            return self.observe(&seen, None).await;
        }
        if let Some(rest) = self.rest(&seen, kind) {
            self.observe(&seen, None).await?;
            return Ok(Some(rest));
        }
        self.world.operations.cut_off(self.machine.name()).await;
        let (name, id) = (self.machine.name().to_owned(), self.machine.provider_id().map(str::to_owned));
        self.operate(kind, &seen.platform, move |platform, reporter| async move {
            let machine = MachineRef::known(&name, id.as_deref());
            platform.connection.machines.delete(machine, &|text| reporter.report(text)).await?;
            platform.forget(machine);
            Ok(None)
        });
        let standing = self.world.operations.standing(self.machine.name(), self.machine.uid());
        self.observe(&Seen { standing, ..seen }, None).await
    }

    /// The instance is gone: its node goes too, and then the object.
    async fn release(mut self, seen: Seen) -> Result<Option<Duration>, Error> {
        if let Some(node) = &seen.node {
            let nodes: Api<Node> = Api::all(self.world.client.clone());
            let name = nodes::name(node);
            let preconditions = Preconditions { uid: node.metadata.uid.clone(), resource_version: None };
            let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
            match nodes.delete(name, &parameters).await.map_err(Error::api(format!("deleting Node {name}"))) {
                Err(error) if !error.is_missing() && !error.is_conflict() => return Err(error),
                _ => {}
            }
        }
        self.say(Level::Normal, "Deleted", "the instance is gone").await;
        self.let_go().await?;
        Ok(None)
    }

    async fn let_go(&mut self) -> Result<(), Error> {
        let finalizers = self.machine.metadata.finalizers.iter().flatten();
        let finalizers: Vec<_> = finalizers.filter(|finalizer| *finalizer != FINALIZER).collect();
        let change = json!({ "metadata": { "finalizers": finalizers } });
        match self.change(change).await {
            Err(error) if !error.is_missing() => Err(error),
            _ => Ok(()),
        }
    }

    /// Begins an operation on the platform.
    fn operate<F>(&self, kind: Kind, platform: &Arc<Platform>, operation: impl FnOnce(Arc<Platform>, Reporter) -> F)
    where
        F: Future<Output = Result<Option<Instance>, StepError>> + Send + 'static,
    {
        let name = self.machine.name().to_owned();
        let (queue, metrics) = (Arc::clone(&self.world.machine_queue), self.world.metrics.clone());
        let (platform, limit) = (Arc::clone(platform), self.world.options.pace.operation_timeout);
        let (done, key) = (Arc::clone(&queue), name.clone());
        self.world.operations.begin(
            &name,
            self.machine.uid(),
            kind,
            move |reporter| {
                let operation = operation(platform, reporter);
                async move {
                    let outcome = tokio::time::timeout(limit, operation).await;
                    let late =
                        |_| StepError::new(ErrorClass::Timeout, format!("it did not end within {} s", limit.as_secs()));
                    let outcome = outcome.map_err(late).and_then(|outcome| outcome);
                    metrics.operated(kind.name(), outcome.is_ok());
                    outcome
                }
            },
            move || done.add(&key),
        );
    }

    fn status(&self, seen: &Seen, failure: Option<Failure>) -> MachineStatus {
        status(&Facts {
            machine: &self.machine,
            sight: &seen.sight,
            node: seen.node.as_deref(),
            standing: &seen.standing,
            failure,
            refusal: self.world.refusals.of_creation(self.machine.name(), self.machine.uid()),
            virtual_addresses: &self.world.options.networks.virtual_addresses,
            now: now(),
        })
    }

    /// Writes the status, if it is another than before.
    async fn write(&mut self, status: MachineStatus) -> Result<(), Error> {
        let same = |before: &MachineStatus| {
            MachineStatus { last_updated: status.last_updated.clone(), ..before.clone() } == status
        };
        if self.machine.status.as_ref().is_some_and(same) {
            return Ok(());
        }
        let before = self.machine.status.clone();
        let written = patch::change_status(&self.world.api(), &*self.machine, before.as_ref(), &status).await;
        self.machine = Arc::new(written?);
        Ok(())
    }

    async fn change(&mut self, change: serde_json::Value) -> Result<(), Error> {
        let changed = patch::change(&self.world.api(), &*self.machine, change).await?;
        self.machine = Arc::new(changed);
        Ok(())
    }

    async fn say(&self, level: Level, reason: &str, message: &str) {
        self.world.events.say(&*self.machine, level, reason, message).await;
    }
}

/// What is seen of a machine.
struct Seen {
    platform: Arc<Platform>,
    sight: Sight,
    node: Option<Arc<Node>>,
    standing: Standing,
}

/// Switches an instance off, and makes sure. One that is not there cannot do harm. That there is none of its name says nothing where
/// its id is known: it may have been renamed.
async fn fence(machines: &dyn Machines, machine: MachineRef<'_>) -> Result<Option<Instance>, StepError> {
    match machines.power(machine, Power::Off).await {
        Err(error) if error.class() != ErrorClass::NotFound => return Err(error),
        _ => {}
    }
    let found = machines.get(machine).await?;
    match found.as_ref().filter(|instance| instance.power != PowerState::Off) {
        Some(running) => {
            let reason = format!("instance {} is {} and not off", running.name, running.state);
            Err(StepError::new(ErrorClass::Transient, reason))
        }
        None => Ok(found),
    }
}

/// Whether an error means that the machine can never be made as it is described.
fn terminal(error: &StepError) -> Option<Failure> {
    let reason = match error.class() {
        ErrorClass::Invalid | ErrorClass::NotFound => ErrorReason::InvalidConfiguration,
        ErrorClass::Bug => ErrorReason::CreateError,
        _ => return None,
    };
    Some(Failure { reason, message: error_chain(error) })
}

/// Whether an error leaves it open what came of the request.
fn is_ambiguous(error: &StepError) -> bool {
    matches!(error.class(), ErrorClass::Transient | ErrorClass::Timeout)
}

/// Whether a node's kubelet answers, so that pods can leave in order.
fn answers(node: &Node) -> bool {
    nodes::readiness(node).is_none_or(|(status, _)| status != "Unknown")
}

/// Seconds are what Kubernetes' own times have.
fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use landfall_platform::{Listing, Progress};

    use super::*;

    /// A platform with some instances.
    struct Fake(Mutex<Vec<Instance>>);

    fn instance(name: &str, id: &str) -> Instance {
        Instance {
            name: name.to_owned(),
            id: id.to_owned(),
            provider_id: format!("fake://{id}"),
            power: PowerState::On,
            state: "up".to_owned(),
            addresses: Vec::new(),
        }
    }

    #[async_trait]
    impl Machines for Fake {
        async fn ensure(&self, _: &MachineSpec, _: Progress<'_>) -> Result<Instance, StepError> {
            unreachable!("nothing is made")
        }

        async fn list(&self) -> Result<Listing, StepError> {
            Ok(self.0.lock().unwrap().clone().into())
        }

        async fn get(&self, machine: MachineRef<'_>) -> Result<Option<Instance>, StepError> {
            Ok(self.0.lock().unwrap().iter().find(|one| machine.is(&one.id, &one.name)).cloned())
        }

        async fn power(&self, machine: MachineRef<'_>, _: Power) -> Result<(), StepError> {
            let mut all = self.0.lock().unwrap();
            let found = all.iter_mut().find(|one| machine.is(&one.id, &one.name));
            found.ok_or_else(|| StepError::new(ErrorClass::NotFound, "no such instance"))?.power = PowerState::Off;
            Ok(())
        }

        async fn delete(&self, _: MachineRef<'_>, _: Progress<'_>) -> Result<(), StepError> {
            unreachable!("nothing is deleted")
        }
    }

    #[tokio::test]
    async fn an_instance_that_was_renamed_is_fenced_and_its_double_is_not() {
        let fake = Fake(Mutex::new(vec![instance("renamed", "1"), instance("worker-a", "2")]));
        let fenced = fence(&fake, MachineRef::known("worker-a", Some("fake://1"))).await.unwrap();
        assert_eq!(fenced.unwrap().name, "renamed");
        let power = |id: &str| fake.0.lock().unwrap().iter().find(|one| one.id == id).unwrap().power;
        assert_eq!((power("1"), power("2")), (PowerState::Off, PowerState::On));
        assert_eq!(fence(&fake, MachineRef::known("worker-a", Some("fake://9"))).await.unwrap(), None);
    }
}
