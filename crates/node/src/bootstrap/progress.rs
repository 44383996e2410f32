//! How far the bootstrap has come, for those outside: a file that the config server serves as `/progress`, and the
//! `ConfigMap` `kube-system/bootstrap` once there is an API.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

use jiff::Timestamp;
use landfall_engine::{Event, EventSink, Plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::stored;

/// Name of the file below the machine's state directory.
pub const PROGRESS_FILE: &str = "progress.json";
/// Where the cluster keeps it.
pub(super) const CONFIG_MAP: &str = "api/v1/namespaces/kube-system/configmaps/bootstrap";

/// How far the bootstrap has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// `progressing`, `failing` or `complete`.
    pub status: String,
    /// All steps, in their order.
    pub steps: Vec<StepProgress>,
    /// Public SSH host keys of the machine, as `known_hosts` files have them: who asks over TLS need not trust the first key that is
    /// shown over SSH.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ssh_host_keys: Vec<String>,
}

/// How far a step has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepProgress {
    /// Its id.
    pub id: String,
    /// What it makes, for people.
    pub title: String,
    /// `waiting`, `running`, `retrying`, `failed` or `done`.
    pub state: String,
    /// What was last said about it: how far it is, or what went wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// When the state or the message last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

impl Progress {
    /// Before anything has begun.
    pub(super) fn new(plan: &Plan) -> Self {
        let steps = plan.steps().map(|spec| StepProgress {
            id: spec.id.to_string(),
            title: spec.title.clone(),
            state: "waiting".to_owned(),
            message: String::new(),
            since: None,
        });
        Self { status: "progressing".to_owned(), steps: steps.collect(), ssh_host_keys: Vec::new() }
    }

    /// Marks steps that an earlier run has finished.
    pub(super) fn mark_done(&mut self, is_done: impl Fn(&str) -> bool) {
        for step in self.steps.iter_mut().filter(|step| is_done(&step.id)) {
            "done".clone_into(&mut step.state);
        }
    }

    /// Takes in an event.
    pub(super) fn take(&mut self, event: &Event, now: Timestamp) {
        let (step, state, message) = match event {
            Event::Begin { .. } => return,
            Event::Started { step, .. } => (step, "running", String::new()),
            Event::Progress { step, message } => (step, "running", message.clone()),
            Event::Retrying { step, error, .. } => (step, "retrying", error.clone()),
            Event::Finished { step, .. } => (step, "done", String::new()),
            Event::Failed { step, error, .. } => (step, "failed", error.clone()),
        };
        if let Some(entry) = self.steps.iter_mut().find(|entry| entry.id == step.as_str())
            && (entry.state != state || entry.message != message)
        {
            *entry = StepProgress { state: state.to_owned(), message, since: Some(now), ..entry.clone() };
        }
        let all = |state| self.steps.iter().all(|step| step.state == state);
        let failing = self.steps.iter().any(|step| matches!(step.state.as_str(), "retrying" | "failed"));
        let status = if all("done") {
            "complete"
        } else if failing {
            "failing"
        } else {
            "progressing"
        };
        status.clone_into(&mut self.status);
    }

    /// The `ConfigMap`. It says `complete` only by the last step, which knows that everything is.
    pub(super) fn config_map(&self) -> Value {
        let done = self.steps.iter().filter(|step| step.state == "done").count();
        let current = self.steps.iter().find(|step| step.state != "done");
        let mut object = config_map(if self.status == "failing" { "failing" } else { "progressing" });
        object["data"]["steps"] = format!("{done}/{}", self.steps.len()).into();
        object["data"]["step"] = current.map_or("", |step| step.title.as_str()).into();
        object["data"]["message"] = current.map_or("", |step| step.message.as_str()).into();
        object
    }
}

/// The `ConfigMap` that the installer waits for.
pub(super) fn completed() -> Value {
    config_map("complete")
}

fn config_map(status: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": "bootstrap", "namespace": "kube-system" },
        "data": { "status": status, "updated": Timestamp::now().to_string() },
    })
}

/// Hears the engine, logs, and keeps the file up to date; `changed` tells whoever writes the `ConfigMap`.
pub(super) struct Recorder {
    progress: Mutex<Progress>,
    file: PathBuf,
    /// Directory with the SSH host keys.
    ssh: PathBuf,
    changed: watch::Sender<Option<Value>>,
}

impl Recorder {
    pub(super) fn new(progress: Progress, file: PathBuf, ssh: PathBuf) -> (Self, watch::Receiver<Option<Value>>) {
        let (changed, receiver) = watch::channel(None);
        (Self { progress: Mutex::new(progress), file, ssh, changed }, receiver)
    }
}

/// Returns the public keys in a directory of sshd, without their comments. There are none until sshd has started for the first time.
fn ssh_host_keys(directory: &Path) -> Vec<String> {
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_host_key = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("ssh_host_") && name.ends_with("_key.pub")
    };
    let key = |path: PathBuf| {
        let text = std::fs::read_to_string(path).ok()?;
        let mut words = text.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?))
    };
    let mut keys: Vec<String> = files.filter(is_host_key).filter_map(key).collect();
    keys.sort();
    keys
}

impl EventSink for Recorder {
    fn event(&self, event: &Event) {
        log(event);
        let mut progress = self.progress.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = progress.clone();
        progress.take(event, Timestamp::now());
        if progress.ssh_host_keys.is_empty() {
            progress.ssh_host_keys = ssh_host_keys(&self.ssh);
        }
        if *progress == before {
            return;
        }
        let text = serde_json::to_vec_pretty(&*progress).expect("texts and times can be written as JSON");
        if let Err(error) = stored::write_private(&self.file, text) {
            tracing::warn!(%error, "cannot write how far the bootstrap is");
        }
        self.changed.send_replace(Some(progress.config_map()));
    }
}

fn log(event: &Event) {
    match event {
        Event::Begin { total, done, .. } => tracing::info!(total, done, "bringing up the cluster"),
        Event::Started { step, title, .. } => tracing::info!(%step, title, "begins"),
        Event::Progress { step, message } => tracing::info!(%step, message),
        Event::Retrying { step, error, pause, .. } => tracing::warn!(%step, error, ?pause, "trying again"),
        Event::Finished { step, took, .. } => tracing::info!(%step, ?took, "done"),
        Event::Failed { step, error, .. } => tracing::error!(%step, error, "failed"),
    }
}

#[cfg(test)]
mod tests {
    use landfall_engine::Phase;
    use std::time::Duration;

    use super::*;
    use crate::{bootstrap::plan, testing};

    #[test]
    fn those_outside_see_what_it_does_and_why_it_does_not_get_on() {
        let now = Timestamp::UNIX_EPOCH;
        let mut progress = Progress::new(&plan(&testing::facts("bootstrap")).unwrap());
        progress.mark_done(|id| id == "vip" || id == "preflight");
        let step = || "control-plane".into();
        progress.take(&Event::Started { step: step(), title: String::new(), phase: Phase::Ensure }, now);
        let error = "kubeadm failed".to_owned();
        let class = landfall_platform::ErrorClass::Transient;
        progress.take(&Event::Retrying { step: step(), class, error, pause: Duration::ZERO, attempt: 1 }, now);
        let data = &progress.config_map()["data"];
        assert_eq!((&data["status"], &data["steps"]), (&"failing".into(), &"2/10".into()));
        assert_eq!(
            (&data["step"], &data["message"]),
            (&"etcd and the first control plane".into(), &"kubeadm failed".into())
        );
        progress.take(&Event::Finished { step: step(), phase: Phase::Ensure, took: Duration::ZERO }, now);
        assert_eq!(progress.config_map()["data"]["status"], "progressing");
    }

    #[test]
    fn the_config_map_is_complete_only_by_the_last_step() {
        let mut progress = Progress::new(&plan(&testing::facts("bootstrap")).unwrap());
        progress.mark_done(|_| true);
        assert_eq!(progress.config_map()["data"]["status"], "progressing");
        assert_eq!(completed()["data"]["status"], "complete");
    }

    #[test]
    fn the_machine_tells_its_ssh_keys_as_soon_as_it_has_some() {
        let home = tempfile::tempdir().unwrap();
        let (file, ssh) = (home.path().join(PROGRESS_FILE), home.path().join("ssh"));
        std::fs::create_dir(&ssh).unwrap();
        let progress = Progress::new(&plan(&testing::facts("bootstrap")).unwrap());
        let (recorder, _changes) = Recorder::new(progress, file.clone(), ssh.clone());
        let told = |event: Event| {
            recorder.event(&event);
            serde_json::from_slice::<Progress>(&std::fs::read(&file).unwrap()).unwrap().ssh_host_keys
        };
        let started = |step: &str| Event::Started { step: step.into(), title: String::new(), phase: Phase::Ensure };
        assert!(told(started("vip")).is_empty());
        std::fs::write(ssh.join("ssh_host_ed25519_key.pub"), "ssh-ed25519 AAAAC3Nz root@bootstrap\n").unwrap();
        std::fs::write(ssh.join("ssh_host_ed25519_key"), "a private key\n").unwrap();
        std::fs::write(ssh.join("ssh_config"), "Host *\n").unwrap();
        assert_eq!(told(started("preflight")), ["ssh-ed25519 AAAAC3Nz"]);
    }
}
