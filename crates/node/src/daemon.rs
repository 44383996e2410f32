//! A program that runs for as long as its command does: started, reloaded, restarted, stopped.

use std::{process::ExitStatus, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

use crate::program::ProgramError;

/// What it gets to stop by itself.
const GRACE: Duration = Duration::from_secs(5);
/// One that has run for this long is started again at once.
const SETTLED: Duration = Duration::from_secs(10);
/// The longest pause before one that ends again and again is started anew.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A program that runs beside this one.
#[derive(Debug)]
pub struct Daemon {
    program: &'static str,
    arguments: Vec<String>,
    reload: Signal,
    child: Option<Child>,
    started: Instant,
    /// How often it has ended without having settled.
    restless: u32,
}

impl Daemon {
    /// A program that reads its configuration anew on a signal. It is not started yet.
    pub fn new<S: Into<String>>(program: &'static str, arguments: impl IntoIterator<Item = S>, reload: Signal) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { program, arguments, reload, child: None, started: Instant::now(), restless: 0 }
    }

    /// Whether it was started and has not been seen to end.
    pub fn is_running(&self) -> bool {
        self.child.is_some()
    }

    /// Starts it if it does not run. One that keeps ending is started after a pause that grows.
    pub async fn start(&mut self) -> Result<(), ProgramError> {
        if self.is_running() {
            return Ok(());
        }
        if self.restless > 0 {
            let pause = Duration::from_millis(50).saturating_mul(1 << self.restless.min(8));
            sleep(pause.min(LONGEST_PAUSE)).await;
        }
        let child =
            Command::new(self.program).args(&self.arguments).stdin(Stdio::null()).kill_on_drop(true).spawn().map_err(
                |source| {
                    self.restless += 1;
                    ProgramError::Start { program: self.program.to_owned(), source }
                },
            )?;
        self.started = Instant::now();
        tracing::info!(program = self.program, pid = child.id(), "started");
        self.child = Some(child);
        Ok(())
    }

    /// Has it read its configuration anew.
    pub fn reload(&self) {
        tracing::info!(program = self.program, "reloads");
        self.signal(self.reload);
    }

    /// Waits until it ends, for ever if it does not run.
    pub async fn ended(&mut self) -> Option<ExitStatus> {
        let Some(child) = &mut self.child else { return std::future::pending().await };
        let status = child.wait().await.ok();
        self.child = None;
        self.restless = if self.started.elapsed() > SETTLED { 0 } else { self.restless + 1 };
        tracing::warn!(program = self.program, ?status, "ended");
        status
    }

    /// Asks it to stop, and makes it if it does not.
    pub async fn stop(&mut self) {
        self.signal(Signal::TERM);
        let Some(mut child) = self.child.take() else { return };
        if timeout(GRACE, child.wait()).await.is_err() {
            // Fails only if it has ended by now.
            let _ = child.kill().await;
        }
        tracing::info!(program = self.program, "stopped");
    }

    fn signal(&self, signal: Signal) {
        let id = self.child.as_ref().and_then(Child::id).and_then(|id| i32::try_from(id).ok());
        if let Some(pid) = id.and_then(Pid::from_raw) {
            // Fails only if it has ended by now, which its owner is told elsewhere.
            let _ = kill_process(pid, signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_reloaded_stopped_and_its_end_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let (ready, heard) = (dir.path().join("ready"), dir.path().join("heard"));
        // Not HUP, which a shell does not hear if the tests run under nohup.
        let script =
            format!("trap 'touch {}' USR1; touch {}; while :; do sleep 0.05; done", heard.display(), ready.display());
        let mut daemon = Daemon::new("sh", ["-c".to_owned(), script], Signal::USR1);
        daemon.start().await.unwrap();
        let until = async |path: &std::path::Path| {
            timeout(Duration::from_mins(1), async {
                while !path.exists() {
                    sleep(Duration::from_millis(20)).await;
                }
            })
            .await
            .unwrap();
        };
        until(&ready).await;
        daemon.reload();
        until(&heard).await;
        daemon.stop().await;
        assert!(!daemon.is_running());

        let mut short = Daemon::new("sh", ["-c", "exit 4"], Signal::HUP);
        short.start().await.unwrap();
        assert_eq!(short.ended().await.unwrap().code(), Some(4));
        assert!(!short.is_running());
    }

    #[tokio::test]
    async fn what_is_not_installed_is_said() {
        let mut daemon = Daemon::new("no-such-daemon", [""; 0], Signal::HUP);
        assert!(matches!(daemon.start().await, Err(ProgramError::Start { .. })));
    }
}
