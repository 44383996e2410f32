//! Looking at one machine and doing what is to be done next.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{DeleteParams, Preconditions},
};
use landfall_machine_api::{
    ErrorReason, FINALIZER, INSTANCE_STATE, MachineStatus, ROLE_LABEL, provider::Shared, set_condition,
};
use landfall_platform::{
    ErrorClass, Machine as Instance, MachineSpec, Power, PowerState, StepError, WantedMachine, error_chain,
};
use serde_json::json;

use super::{
    DRAINED, FENCED,
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
        let sight = platform.sight(self.machine.name());
        let node = self.world.nodes.of(&self.machine, &*platform.provider);
        let standing = self.world.operations.standing(self.machine.name(), self.machine.uid());
        let drainable = node.as_deref().is_some_and(answers);
        let removed = matches!(standing, Standing::Ended(Kind::Delete, Ok(_)));
        let act = decide(&View { machine: &self.machine, sight: &sight, drainable, removed });
        let seen = Seen { platform, sight, node, standing };
        match act {
            Act::Observe | Act::AwaitDrainHooks | Act::AwaitRemovalHooks => self.observe(seen, None).await,
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
    async fn observe(mut self, seen: Seen, failure: Option<Failure>) -> Result<Option<Duration>, Error> {
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
        let busy = matches!(seen.standing, Standing::Busy(..));
        let status = self.status(&seen, failure);
        self.write(status).await?;
        Ok(busy.then_some(PROGRESS))
    }

    async fn create(mut self, seen: Seen) -> Result<Option<Duration>, Error> {
        match &seen.standing {
            Standing::Busy(..) => self.observe(seen, None).await,
            Standing::Ended(Kind::Create, Ok(Some(instance))) => {
                // From here on the machine has an instance and never gets another.
                let (id, state) = (instance.provider_id.clone(), instance.state.clone());
                let change =
                    json!({ "metadata": { "annotations": { INSTANCE_STATE: state } }, "spec": { "providerID": id } });
                self.change(change).await?;
                self.say(Level::Normal, "Created", &format!("instance {id} runs")).await;
                let node = self.world.nodes.of(&self.machine, &*seen.platform.provider);
                self.observe(Seen { node, ..seen }, None).await
            }
            Standing::Ended(Kind::Create, Err(error)) => {
                let error = Arc::clone(error);
                let failure = terminal(&error);
                let given_up = failure.is_some();
                self.say(Level::Warning, "CreateFailed", &error_chain(&*error)).await;
                let (world, name) = (Arc::clone(&self.world), self.machine.name().to_owned());
                self.observe(seen, failure).await?;
                world.operations.forget(&name);
                if given_up { Ok(None) } else { Err(retry("creating the instance", &error)) }
            }
            Standing::Ended(..) | Standing::Idle => self.begin_creation(seen).await,
        }
    }

    async fn begin_creation(self, seen: Seen) -> Result<Option<Duration>, Error> {
        if !seen.platform.is_reachable() {
            // The listing that succeeds brings it here again.
            return self.observe(seen, None).await;
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
                return self.observe(seen, Some(failure)).await;
            }
        };
        let user_data = match self.world.platforms.user_data(&shared).await {
            Ok(user_data) => user_data,
            Err(error) => {
                self.say(Level::Warning, "UserDataMissing", &error_chain(&error)).await;
                return Err(error);
            }
        };
        let spec = MachineSpec { name: self.machine.name().to_owned(), user_data, platform: platform_spec };
        self.operate(Kind::Create, &seen.platform, move |platform, reporter| async move {
            let instance = platform.connection.machines.ensure(&spec, &|text| reporter.report(text)).await?;
            platform.learn(instance.clone());
            Ok(Some(instance))
        });
        let standing = self.world.operations.standing(self.machine.name(), self.machine.uid());
        self.observe(Seen { standing, ..seen }, None).await
    }

    /// The listing did not show the instance. One that is really gone cannot come back: the machine has failed.
    async fn confirm(self, seen: Seen) -> Result<Option<Duration>, Error> {
        let name = self.machine.name().to_owned();
        let found = seen.platform.connection.machines.get(&name).await;
        let found =
            found.map_err(|source| Error::Platform { attempt: format!("looking for instance {name}"), source })?;
        if let Some(instance) = found {
            seen.platform.learn(instance.clone());
            return self.observe(Seen { sight: Sight::There(Arc::new(instance)), ..seen }, None).await;
        }
        let id = self.machine.provider_id().unwrap_or_default();
        let message =
            format!("instance {id} was there and is gone; delete the machine, or let a health check replace it");
        self.observe(seen, Some(Failure { reason: ErrorReason::InstanceMissing, message })).await
    }

    async fn fence(mut self, seen: Seen) -> Result<Option<Duration>, Error> {
        match &seen.standing {
            Standing::Busy(Kind::Fence, _) => self.observe(seen, None).await,
            Standing::Ended(Kind::Fence, Ok(_)) => {
                self.say(Level::Normal, "Fenced", "the instance is off").await;
                let mut status = self.status(&seen, None);
                set_condition(&mut status.conditions, FENCED, true, "PowerOff", "the instance is off", &now());
                self.write(status).await?;
                Ok(None)
            }
            Standing::Ended(Kind::Fence, Err(error)) => {
                let error = Arc::clone(error);
                self.say(Level::Warning, "FenceFailed", &error_chain(&*error)).await;
                let (world, name) = (Arc::clone(&self.world), self.machine.name().to_owned());
                self.observe(seen, None).await?;
                world.operations.forget(&name);
                Err(retry("fencing the instance", &error))
            }
            Standing::Busy(..) | Standing::Ended(..) | Standing::Idle => {
                if !seen.platform.is_reachable() {
                    return self.observe(seen, None).await;
                }
                self.world.operations.cut_off(self.machine.name()).await;
                let name = self.machine.name().to_owned();
                self.operate(Kind::Fence, &seen.platform, move |platform, _| async move {
                    fence(&platform, &name).await?;
                    Ok(None)
                });
                let standing = self.world.operations.standing(self.machine.name(), self.machine.uid());
                self.observe(Seen { standing, ..seen }, None).await
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
        let begun = self.machine.metadata.deletion_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
        let late = Timestamp::now().duration_since(begun).unsigned_abs() > limit;
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

    async fn remove(self, seen: Seen) -> Result<Option<Duration>, Error> {
        match &seen.standing {
            Standing::Busy(Kind::Delete, _) => self.observe(seen, None).await,
            Standing::Ended(Kind::Delete, Err(error)) => {
                let error = Arc::clone(error);
                self.say(Level::Warning, "DeleteFailed", &error_chain(&*error)).await;
                let (world, name) = (Arc::clone(&self.world), self.machine.name().to_owned());
                self.observe(seen, None).await?;
                world.operations.forget(&name);
                Err(retry("deleting the instance", &error))
            }
            Standing::Busy(..) | Standing::Ended(..) | Standing::Idle => {
                if !seen.platform.is_reachable() {
                    return self.observe(seen, None).await;
                }
                self.world.operations.cut_off(self.machine.name()).await;
                let name = self.machine.name().to_owned();
                // A creation that was cut off, by this process or by one before it, may still come through.
                let unsettled = self.machine.provider_id().is_none();
                let pause = self.world.options.pace.poll;
                self.operate(Kind::Delete, &seen.platform, move |platform, reporter| async move {
                    delete(&platform, &name, unsettled.then_some(pause), &reporter).await?;
                    Ok(None)
                });
                let standing = self.world.operations.standing(self.machine.name(), self.machine.uid());
                self.observe(Seen { standing, ..seen }, None).await
            }
        }
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
            virtual_addresses: &self.world.options.virtual_addresses,
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

/// Switches an instance off, and makes sure. One that is not there cannot do harm.
async fn fence(platform: &Platform, name: &str) -> Result<(), StepError> {
    let machines = &platform.connection.machines;
    match machines.power(name, Power::Off).await {
        Err(error) if error.class() != ErrorClass::NotFound => return Err(error),
        _ => {}
    }
    match machines.get(name).await? {
        Some(instance) if instance.power != PowerState::Off => {
            let reason = format!("instance {name} is {} and not off", instance.state);
            Err(StepError::new(ErrorClass::Transient, reason))
        }
        Some(instance) => {
            platform.learn(instance);
            Ok(())
        }
        None => Ok(()),
    }
}

/// Deletes an instance. If one may still come, it is looked for once more after a pause.
async fn delete(
    platform: &Platform,
    name: &str,
    pause: Option<Duration>,
    reporter: &Reporter,
) -> Result<(), StepError> {
    let machines = &platform.connection.machines;
    machines.delete(name, &|text| reporter.report(text)).await?;
    if let Some(pause) = pause {
        tokio::time::sleep(pause).await;
        machines.delete(name, &|text| reporter.report(text)).await?;
    }
    platform.forget(name);
    Ok(())
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

fn retry(attempt: &str, error: &StepError) -> Error {
    let source = StepError::new(error.class(), error_chain(error)).retry_after(error.wait());
    Error::Platform { attempt: attempt.to_owned(), source }
}

/// Whether a node's kubelet answers, so that pods can leave in order.
fn answers(node: &Node) -> bool {
    nodes::readiness(node).is_none_or(|(status, _)| status != "Unknown")
}

/// Seconds are what Kubernetes' own times have.
fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
