//! Jobs: what takes longer than a call.

use std::collections::BTreeMap;
use std::time::Duration;

use landfall_wire::Request;

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
        let reply = self.call(&attempt, &path, Request::get).await?;
        let mut request = self.only(&attempt, &reply)?.object;
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
        let deadline = tokio::time::Instant::now() + limits.timeout;
        while is_running(&job) {
            if tokio::time::Instant::now() >= deadline {
                self.give_up(&path, limits).await;
                return Err(Error::JobTimeout {
                    operation: operation.to_owned(),
                    object: target.to_string(),
                    console: self.console().to_string(),
                    after: limits.timeout,
                });
            }
            tokio::time::sleep(limits.interval).await;
            let reply = self.call(&attempt, &path, Request::get).await?;
            job = self.only(&attempt, &reply)?;
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
