//! Making a machine: placed, created, fitted out, started.

use std::{collections::BTreeMap, sync::Arc};

use landfall_platform::{Bind as _, Context, ErrorClass, Outputs, Progress, StepError, StepId};
use secrecy::SecretString;

use super::{Machines, Partition, id, remove_all};
use crate::{
    Error,
    compute::{self, Binder, Blueprint, Host, PartitionId},
    site::Found,
};

/// What a partition is called by the platform while nothing runs in it.
const OFF: &str = "not activated";

impl Machines {
    /// Makes a machine exist and run: the one with the id that was recorded, else the one with the name and the mark, else a new one,
    /// with that id if there is one. The user data is needed only if the machine does not exist yet, or is not complete.
    pub(crate) async fn make(
        &self,
        desired: &Partition,
        recorded: Option<&PartitionId>,
        user_data: Option<&SecretString>,
        progress: Progress<'_>,
    ) -> Result<Found, StepError> {
        let name = &desired.name;
        let known = match recorded {
            Some(id) => self.site.with_id(id.as_str()).await?,
            None => None,
        };
        let found = match known {
            Some(known) => vec![known],
            None => self.site.named(name).await?,
        };
        let ours = found.iter().find(|found| self.site.is_ours(found));
        match ours {
            // A machine that has been started was fitted out before, because starting is the last thing that happens.
            Some(found) if found.partition.state != OFF => return Ok(found.clone()),
            Some(_) => {}
            None => {
                if let Some(foreign) = found.first() {
                    let object = format!("partition {name}");
                    return Err(Error::Foreign { object, host: foreign.host.clone() }.into());
                }
            }
        }
        let user_data = user_data.ok_or_else(|| {
            let reason = format!("there is no file {} to start {name} with", desired.ignition);
            StepError::new(ErrorClass::Bug, reason)
        })?;
        match self.fit_out(desired, ours, recorded, user_data, progress).await {
            Ok(found) => Ok(found),
            Err(error) => Err(self.give_up(name, recorded, error, progress).await),
        }
    }

    /// Carries out the steps that make a partition, one after the other. Each looks before it acts, so all can be cut off and
    /// repeated anywhere; whether to try again is for the caller to decide.
    async fn fit_out(
        &self,
        desired: &Partition,
        ours: Option<&Found>,
        recorded: Option<&PartitionId>,
        user_data: &SecretString,
        progress: Progress<'_>,
    ) -> Result<Found, StepError> {
        let file = self.image_file(desired, progress).await?;
        // Until the partition is there, nobody else may count on the room that it takes.
        let placing = Arc::clone(&self.site.placing);
        let alone = placing.lock().await;
        let member = match ours {
            Some(found) => self.site.member(&found.host)?,
            None => self.place(desired).await?,
        };
        let partition = match ours {
            Some(found) => id(found)?,
            None => recorded.cloned().unwrap_or_else(|| self.site.mark.new_id()),
        };
        let host = member.host().await?;
        let place = self.disk_place(desired, member).await?;
        let blueprint = desired.blueprint(&partition, place, file, user_data);
        let mut steps = Steps::new(&host, &blueprint);
        progress(format!("creating on {}", member.name));
        steps.next().await?;
        drop(alone);
        let fitted_out = steps.rest(progress).await;
        let found = match self.site.with_id(partition.as_str()).await {
            Ok(found) => found,
            // What stopped it says more than that nobody can be asked any more.
            Err(silence) => return Err(fitted_out.err().unwrap_or_else(|| silence.into())),
        };
        if found.is_none() {
            // Somebody has deleted it meanwhile, and nothing leads to what was made for it any more.
            remove_all(&host, compute::steps(host.name(), &blueprint, ""), progress).await?;
        }
        fitted_out?;
        found.ok_or_else(|| Error::Missing { name: desired.name.clone() }.into())
    }

    /// A machine that can never be made is not left behind as a half.
    async fn give_up(
        &self,
        name: &str,
        recorded: Option<&PartitionId>,
        error: StepError,
        progress: Progress<'_>,
    ) -> StepError {
        if !matches!(error.class(), ErrorClass::Invalid | ErrorClass::Capacity | ErrorClass::NotFound) {
            return error;
        }
        match self.erase(name, recorded.map(PartitionId::as_str), progress).await {
            Ok(()) => error,
            Err(left) => {
                let (class, left) = (error.class(), landfall_platform::error_chain(&left));
                let (why, wait) = (landfall_platform::error_chain(&error), error.wait());
                StepError::new(class, format!("{why}; and what there is of {name} cannot be removed: {left}"))
                    .retry_after(wait)
            }
        }
    }
}

/// The steps that make a partition, and how far they are.
struct Steps {
    binder: Binder,
    specs: std::vec::IntoIter<landfall_platform::StepSpec>,
    outputs: BTreeMap<StepId, Outputs>,
}

impl Steps {
    fn new(host: &Arc<Host>, blueprint: &Blueprint) -> Self {
        let binder = Binder::new([Arc::clone(host)]);
        let drive = blueprint.config_drive.as_ref();
        let binder = match drive {
            Some(drive) => binder.with_drive(&blueprint.partition.id, drive),
            None => binder,
        };
        let specs = compute::steps(host.name(), blueprint, "").into_iter();
        Self { binder, specs, outputs: BTreeMap::new() }
    }

    /// What the next step makes, for people.
    fn title(&self) -> Option<String> {
        self.specs.as_slice().first().map(|spec| spec.title.clone())
    }

    async fn rest(&mut self, progress: Progress<'_>) -> Result<(), StepError> {
        while let Some(title) = self.title() {
            progress(title);
            self.next().await?;
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<(), StepError> {
        let Some(spec) = self.specs.next() else { return Ok(()) };
        let outputs = self.binder.bind(&spec)?.ensure(&context(self.outputs.clone())).await?;
        self.outputs.insert(spec.id, outputs);
        Ok(())
    }
}

/// What steps see of those before them. They say how far they are by their titles.
pub(super) fn context(outputs: BTreeMap<StepId, Outputs>) -> Context {
    Context::new(outputs, Arc::new(|_| ()))
}
