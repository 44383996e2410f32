//! Loss of power at a step of what a machine is doing.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::lab::Host;
use crate::waiting::until;

/// How long a machine may take to come to a step.
const STEP_LIMIT: Duration = Duration::from_mins(6);
/// How long the engine may take to switch a machine off or on.
const SWITCH_LIMIT: Duration = Duration::from_mins(1);
/// Between two looks for the sign of a step, some of which take a tenth of a second.
const LOOK: Duration = Duration::from_millis(10);

/// A step, and how one sees from outside that a machine has come to it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A file or directory that is written or renamed then.
    File(&'static str, &'static str),
    /// A step of the bootstrap machine's plan, which has begun.
    Bootstrap(&'static str),
}

impl Step {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::File(name, _) | Self::Bootstrap(name) => name,
        }
    }

    /// Returns true if a machine has come to this step since that time. What an attempt before has left does not count.
    fn is_reached(self, root: &Path, since: SystemTime) -> bool {
        match self {
            Self::File(_, path) => {
                inside(root, path).symlink_metadata().is_ok_and(|metadata| changed(&metadata) > since)
            }
            Self::Bootstrap(step) => {
                let progress = std::fs::read(inside(root, "/var/lib/landfall/progress.json")).unwrap_or_default();
                serde_json::from_slice(&progress).is_ok_and(|progress| has_begun(&progress, step))
            }
        }
    }
}

/// When a file was last written or renamed.
fn changed(metadata: &Metadata) -> SystemTime {
    let (seconds, nanoseconds) = (metadata.ctime().try_into(), metadata.ctime_nsec().try_into());
    SystemTime::UNIX_EPOCH + Duration::new(seconds.unwrap_or_default(), nanoseconds.unwrap_or_default())
}

fn inside(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

fn has_begun(progress: &Value, wanted: &str) -> bool {
    let steps = progress["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let place = steps.iter().position(|step| step["id"] == wanted);
    place.is_some_and(|place| steps[place..].iter().any(|step| step["state"] != "waiting"))
}

/// Cuts the power of the machine whose name ends like this when it comes to a step, which it must do after `since`, and switches it on again.
pub(crate) async fn cut_at(cluster: &Cluster<'_>, name: &str, step: Step, since: SystemTime) -> anyhow::Result<()> {
    let host =
        reach(cluster, name, step, since).await.with_context(|| format!("{name} did not come to '{}'", step.name()))?;
    cut(cluster, &host).await
}

/// Cuts the power of a machine, and switches it on again.
async fn cut(cluster: &Cluster<'_>, host: &Host) -> anyhow::Result<()> {
    cluster.lab.act(host, "stop").await?;
    until("the machine without power to be on again", SWITCH_LIMIT, || async {
        let hosts = cluster.lab.hosts().await?;
        let now = hosts.iter().find(|other| other.id == host.id);
        if now.is_some_and(|now| now.pid.is_some() && now.pid != host.pid) {
            return Ok(());
        }
        // The controller in the cluster may be faster.
        let started = if now.is_none() { cluster.lab.act(host, "start").await } else { Ok(()) };
        started.and_then(|()| anyhow::bail!("{} is {}", host.name, if now.is_some() { "starting" } else { "off" }))
    })
    .await
}

/// The machine, when it has come to a step.
async fn reach(cluster: &Cluster<'_>, name: &str, step: Step, since: SystemTime) -> anyhow::Result<Host> {
    let deadline = Instant::now() + STEP_LIMIT;
    loop {
        let host = until("the machine to be on", STEP_LIMIT, || on(cluster, name)).await?;
        let root = PathBuf::from(format!("/proc/{}/root", host.pid.unwrap_or_default()));
        // For as long as it has not started anew, by which it gets another first process.
        while root.join("etc").exists() {
            if step.is_reached(&root, since) {
                return Ok(host);
            }
            ensure!(Instant::now() < deadline, "not within {STEP_LIMIT:?}");
            tokio::time::sleep(LOOK).await;
        }
        ensure!(Instant::now() < deadline, "it is not up");
        tokio::time::sleep(LOOK).await;
    }
}

async fn on(cluster: &Cluster<'_>, name: &str) -> anyhow::Result<Host> {
    let hosts = cluster.lab.hosts().await?;
    let names: Vec<String> = hosts.iter().map(|host| host.name.clone()).collect();
    let host = hosts.into_iter().find(|host| host.name.ends_with(name) && host.pid.is_some());
    host.with_context(|| format!("hosts that are on: {names:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_attempt_before_has_left_does_not_count() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("etc")).unwrap();
        let step = Step::File("a file", "/etc/admin.conf");
        let before = SystemTime::UNIX_EPOCH;
        assert!(!step.is_reached(root.path(), before));
        std::fs::write(root.path().join("etc/admin.conf"), "").unwrap();
        assert!(step.is_reached(root.path(), before));
        assert!(!step.is_reached(root.path(), SystemTime::now() + Duration::from_secs(1)));
    }

    #[test]
    fn a_step_has_begun_when_it_or_a_later_one_does_not_wait() {
        let state = |state: &str, id: &str| json!({ "id": id, "state": state });
        let progress =
            json!({ "steps": [state("done", "vip"), state("retrying", "masters"), state("waiting", "reset")] });
        assert!(has_begun(&progress, "vip") && has_begun(&progress, "masters"));
        assert!(!has_begun(&progress, "reset") && !has_begun(&progress, "another") && !has_begun(&Value::Null, "vip"));
    }
}
