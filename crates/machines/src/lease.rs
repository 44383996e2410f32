//! Which of several controllers leads.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
};
use kube::{Api, Client, api::PostParams};
use tokio::time::{Instant, sleep};

use crate::{Error, LeaseOptions, error::status_code};

/// A lease that this process may hold.
pub(crate) struct Election {
    api: Api<Lease>,
    options: LeaseOptions,
    /// The holder's last sign of life, and when this process saw it. Clocks of different machines are never compared.
    seen: Option<(Option<MicroTime>, Instant)>,
}

impl Election {
    pub(crate) fn new(client: Client, namespace: &str, options: LeaseOptions) -> Self {
        Self { api: Api::namespaced(client, namespace), options, seen: None }
    }

    /// Waits until this process leads.
    pub(crate) async fn lead(&mut self) {
        // waits: a process that does not lead stands by for as long as it runs
        loop {
            match self.attempt().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => {
                    tracing::debug!(error = landfall_platform::error_chain(&error), "cannot ask for the lease");
                }
            }
            sleep(self.options.duration / 5).await;
        }
    }

    /// Keeps leading. Returns when that could not be done in time, well before anybody else may lead.
    pub(crate) async fn keep(&mut self) -> Error {
        let mut renewed = Instant::now();
        loop {
            sleep(self.options.duration / 5).await;
            let limit = (self.options.duration * 3 / 5).saturating_sub(renewed.elapsed());
            let begun = Instant::now();
            match tokio::time::timeout(limit, self.attempt()).await {
                Ok(Ok(true)) => renewed = begun,
                // Somebody else took it.
                Ok(Ok(false)) => return Error::LeaseLost(self.options.name.clone()),
                Ok(Err(error)) => {
                    tracing::warn!(error = landfall_platform::error_chain(&error), "the lease could not be renewed");
                }
                Err(_) => {}
            }
            if renewed.elapsed() >= self.options.duration * 3 / 5 {
                return Error::LeaseLost(self.options.name.clone());
            }
        }
    }

    /// Lets others lead at once.
    pub(crate) async fn release(&self) {
        let Ok(Some(mut lease)) = self.api.get_opt(&self.options.name).await else { return };
        let Some(spec) =
            lease.spec.as_mut().filter(|spec| spec.holder_identity.as_ref() == Some(&self.options.identity))
        else {
            return;
        };
        spec.holder_identity = None;
        spec.renew_time = None;
        let _released = self.api.replace(&self.options.name, &PostParams::default(), &lease).await;
    }

    /// Takes the lease if it may be taken, or renews it. Whether this process holds it.
    async fn attempt(&mut self) -> Result<bool, Error> {
        let LeaseOptions { name, identity, duration } = &self.options;
        let failed = || Error::api(format!("asking for the lease {name}"));
        let now = MicroTime(Timestamp::now());
        let Some(mut lease) = self.api.get_opt(name).await.map_err(failed())? else {
            let spec = LeaseSpec {
                holder_identity: Some(identity.clone()),
                lease_duration_seconds: Some(seconds(*duration)),
                acquire_time: Some(now.clone()),
                renew_time: Some(now),
                lease_transitions: Some(0),
                ..LeaseSpec::default()
            };
            let lease =
                Lease { metadata: ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() }, spec: Some(spec) };
            return taken(self.api.create(&PostParams::default(), &lease).await, failed());
        };
        let spec = lease.spec.get_or_insert_with(LeaseSpec::default);
        let holder = spec.holder_identity.clone().filter(|holder| !holder.is_empty());
        let own = holder.as_ref() == Some(identity);
        if !own && holder.is_some() {
            let sign = spec.renew_time.clone();
            let since = match &self.seen {
                Some((seen, since)) if *seen == sign => *since,
                _ => self.seen.insert((sign, Instant::now())).1,
            };
            let granted = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
            if since.elapsed() < granted.map_or(*duration, Duration::from_secs).max(*duration) {
                return Ok(false);
            }
        }
        if !own {
            spec.acquire_time = Some(now.clone());
            spec.lease_transitions = Some(spec.lease_transitions.unwrap_or(0) + 1);
        }
        spec.holder_identity = Some(identity.clone());
        spec.lease_duration_seconds = Some(seconds(*duration));
        spec.renew_time = Some(now);
        // Refused if anybody else was faster: the version is in it.
        taken(self.api.replace(name, &PostParams::default(), &lease).await, failed())
    }
}

/// Whether a write went through. That somebody else was faster is an answer, and not an error.
fn taken(written: Result<Lease, kube::Error>, failed: impl FnOnce(kube::Error) -> Error) -> Result<bool, Error> {
    match written {
        Ok(_) => Ok(true),
        Err(error) if status_code(&error) == Some(409) => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

fn seconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_secs().max(1)).unwrap_or(i32::MAX)
}
