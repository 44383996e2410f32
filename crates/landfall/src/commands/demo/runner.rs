//! Runs programs as the user would, in sight.

use std::{ffi::OsString, path::Path};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::{error::Error, printer::Printer};

/// Runs programs as the user would, in sight.
pub(super) struct Runner<'a> {
    pub(super) printer: Printer,
    /// What is added to the environment of programs.
    pub(super) environment: Vec<(&'static str, OsString)>,
    pub(super) cancel: &'a CancellationToken,
}

impl Runner<'_> {
    pub(super) fn heading(&self, text: &str) {
        self.printer.heading(text);
    }

    /// Runs a command of this program.
    pub(super) async fn landfall(&self, arguments: &[&str], dir: &Path) -> anyhow::Result<()> {
        self.landfall_until(arguments, dir, self.cancel).await
    }

    /// The same, with somebody else who may cut it short.
    pub(super) async fn landfall_until(
        &self,
        arguments: &[&str],
        dir: &Path,
        cancel: &CancellationToken,
    ) -> anyhow::Result<()> {
        let shown = format!("landfall {} --dir {}", arguments.join(" "), dir.display());
        let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
        command.args(arguments).arg("--dir").arg(dir);
        self.run(command, &shown, cancel).await
    }

    /// Runs a program that is on the path, in a directory.
    pub(super) async fn program(&self, name: &str, arguments: &[&str], directory: &Path) -> anyhow::Result<()> {
        let mut command = Command::new(name);
        command.args(arguments).current_dir(directory);
        self.run(command, &format!("{name} {}", arguments.join(" ")), self.cancel).await
    }

    /// It gets a process group of its own, so that Ctrl-C reaches it once, through us.
    async fn run(&self, mut command: Command, shown: &str, cancel: &CancellationToken) -> anyhow::Result<()> {
        if cancel.is_cancelled() {
            return Err(Error::Interrupted.into());
        }
        self.printer.command(shown);
        command.envs(self.environment.iter().map(|(name, value)| (name, value))).process_group(0).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("cannot run '{shown}'"))?;
        let status = tokio::select! {
            status = child.wait() => status,
            () = cancel.cancelled() => {
                if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
                    // It may have ended by itself just now.
                    let _gone = kill_process(pid, Signal::INT);
                }
                child.wait().await
            }
        };
        let status = status.with_context(|| format!("cannot wait for '{shown}'"))?;
        if cancel.is_cancelled() {
            return Err(Error::Interrupted.into());
        }
        anyhow::ensure!(status.success(), "'{shown}' failed: {status}");
        Ok(())
    }
}
