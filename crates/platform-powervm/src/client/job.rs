//! Jobs: what takes longer than a call.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::Duration;

use landfall_wire::Request;
use tokio::time::Instant;

use super::{atom::Entry, path::Path, session::Client};
use crate::Error;
use crate::xml::Element;

/// How long a job may take, and how often it is looked at.
#[derive(Clone, Copy, Debug)]
pub struct JobLimits {
    /// When it is cancelled.
    pub timeout: Duration,
    /// Between two looks.
    pub interval: Duration,
}

impl Default for JobLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_mins(30), interval: Duration::from_secs(1) }
    }
}

/// A parameter of a job.
#[derive(Clone, Debug)]
pub enum Parameter<'a> {
    /// A word.
    Text(&'a str),
    /// A document, which is wrapped up so that it is not read as part of the job.
    Xml(&'a str),
}

/// Jobs that take no longer are not looked at before they may be done.
const QUICK: Duration = Duration::from_secs(15);
/// One of so many is looked at as if nothing were known: those that were measured may have been slow ones.
const DOUBT: u32 = 16;
/// Nobody waits longer than this to look again.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// What is known of a kind of jobs.
#[derive(Clone, Debug)]
pub(super) struct KnownJob {
    /// The request that starts one, without parameters: it is the same for all objects of a kind.
    template: Element,
    /// How long the shortest one took.
    shortest: Option<Duration>,
    /// How many were run.
    runs: u32,
}

impl Client {
    /// Runs an operation on an object to its end, and forgets the job. What it returned.
    pub async fn run_job(
        &self,
        target: &Path,
        operation: &str,
        parameters: &[(&str, Parameter<'_>)],
        limits: JobLimits,
    ) -> Result<BTreeMap<String, String>, Error> {
        let attempt = format!("starting {operation} on {target}");
        let path = format!("{}/do/{operation}", target.bare());
        let mut request = self.template(&attempt, target, operation, &path).await?;
        let list = request.child_mut("JobParameters");
        let list = list.ok_or_else(|| self.misunderstood(&attempt, "the template takes no parameters".to_owned()))?;
        // The template's own elements say which prefix, if any, means the namespace of jobs.
        let prefix = list.name().rsplit_once(':').map(|(prefix, _)| prefix.to_owned());
        for (name, value) in parameters {
            list.push(parameter(prefix.as_deref(), name, value));
        }
        let job = self.put(&attempt, &path, &request).await?;
        self.follow(target, operation, job, limits).await
    }

    /// The request that starts a job, without its parameters.
    async fn template(&self, attempt: &str, target: &Path, operation: &str, path: &str) -> Result<Element, Error> {
        if let Some(known) = self.known_job(target, operation) {
            return Ok(known.template);
        }
        let reply = self.call(attempt, path, Request::get).await?;
        let template = self.only(attempt, &reply)?.object;
        let known = KnownJob { template: template.clone(), shortest: None, runs: 0 };
        let mut jobs = self.known_jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.insert(known_as(target, operation), known);
        Ok(template)
    }

    fn known_job(&self, target: &Path, operation: &str) -> Option<KnownJob> {
        let jobs = self.known_jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.get(&known_as(target, operation)).cloned()
    }

    fn learn_duration(&self, target: &Path, operation: &str, took: Duration) {
        let mut jobs = self.known_jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = jobs.get_mut(&known_as(target, operation)) {
            known.shortest = Some(known.shortest.map_or(took, |shortest| shortest.min(took)));
            known.runs += 1;
        }
    }

    async fn follow(
        &self,
        target: &Path,
        operation: &str,
        mut job: Entry,
        limits: JobLimits,
    ) -> Result<BTreeMap<String, String>, Error> {
        let id = job.text("JobID");
        let path = format!("uom/jobs/{id}");
        let attempt = format!("looking at {operation} on {target}");
        let began = Instant::now();
        let deadline = began + limits.timeout;
        let known = self.known_job(target, operation).filter(|known| known.runs % DOUBT != DOUBT - 1);
        let shortest = known.and_then(|known| known.shortest);
        let mut looks = 0;
        while is_running(&job) {
            if Instant::now() >= deadline {
                self.give_up(&path, limits).await;
                return Err(Error::JobTimeout {
                    operation: operation.to_owned(),
                    object: target.to_string(),
                    console: self.console().to_string(),
                    after: limits.timeout,
                });
            }
            // One look soon, for what fails at once, unless it is quick anyway; the next when the quickest so far was done; then again
            // and again.
            let expected = shortest.filter(|shortest| looks == u32::from(*shortest > QUICK));
            let expected = expected.map(|shortest| shortest.saturating_sub(began.elapsed()));
            let pause = expected.unwrap_or_default().min(LONGEST_PAUSE).max(limits.interval);
            tokio::time::sleep_until((Instant::now() + pause).min(deadline)).await;
            let reply = self.call(&attempt, &path, Request::get).await?;
            job = self.only(&attempt, &reply)?;
            looks += 1;
        }
        if job.text("Status") == "COMPLETED_OK" {
            self.learn_duration(target, operation, began.elapsed());
        }
        // A console keeps jobs until they are deleted. That this fails is no failure of the job.
        let _kept = self.remove(&attempt, &path).await;
        let results = results(&job);
        match job.text("Status").as_str() {
            "COMPLETED_OK" => Ok(results),
            status => Err(Error::Job {
                operation: operation.to_owned(),
                object: target.to_string(),
                console: self.console().to_string(),
                status: status.to_owned(),
                message: message(&job, &results),
            }),
        }
    }

    /// Cancels a job, and deletes it if that ends it soon.
    async fn give_up(&self, path: &str, limits: JobLimits) {
        let attempt = "cancelling a job";
        let cancelled =
            self.call(attempt, &format!("{path}/cancel"), |url| Request::post(url, bytes::Bytes::new())).await;
        if cancelled.is_ok() {
            tokio::time::sleep(limits.interval).await;
            let _kept = self.remove(attempt, path).await;
        }
    }
}

/// The kind of an object, and what is done to it.
fn known_as(target: &Path, operation: &str) -> String {
    format!("{}/{operation}", target.bare().rsplit('/').nth(1).unwrap_or_default())
}

fn is_running(job: &Entry) -> bool {
    matches!(job.text("Status").as_str(), "RUNNING" | "NOT_STARTED" | "NOT_ACTIVE")
}

fn parameter(prefix: Option<&str>, name: &str, value: &Parameter<'_>) -> Element {
    let qualified = |local: &str| prefix.map_or_else(|| local.to_owned(), |prefix| format!("{prefix}:{local}"));
    let mut text = Element::new(&qualified("ParameterValue"));
    match value {
        Parameter::Text(value) => text.set_text(value),
        Parameter::Xml(value) => text.push_cdata(value),
    }
    Element::new(&qualified("JobParameter"))
        .with_attribute("schemaVersion", "V1_0")
        .with(Element::text_of(&qualified("ParameterName"), name))
        .with(text)
}

fn results(job: &Entry) -> BTreeMap<String, String> {
    let list = job.object.child("Results").into_iter().flat_map(|list| list.all("JobParameter"));
    let text = |item: &Element, name: &str| item.text_at(name).unwrap_or_default();
    list.map(|item| (text(item, "ParameterName"), text(item, "ParameterValue"))).collect()
}

/// Why a job failed: its result says so, or else the exception.
fn message(job: &Entry, results: &BTreeMap<String, String>) -> String {
    let result = results.get("result").filter(|message| !message.is_empty()).cloned();
    let message = result.unwrap_or_else(|| job.text("ResponseException/Message"));
    let message = message.trim().trim_end_matches('.').to_owned();
    if message.is_empty() { "the console does not say why".to_owned() } else { message }
}
