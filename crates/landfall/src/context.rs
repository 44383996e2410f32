//! What every command is given.

use std::{io::IsTerminal as _, process::ExitCode};

use jiff::Timestamp;
use landfall_platform::Environment;
use landfall_workdir::Holder;

use crate::{
    cli::{Cli, Globals},
    error::Error,
    exit::ExitStatus,
    failure::Failure,
    interrupt::Interrupt,
    log::Log,
    printer::{Printer, SAID},
};

/// What every command is given: the flags that all share, and the world outside as a value.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) globals: Globals,
    pub(crate) printer: Printer,
    pub(crate) environment: Environment,
    pub(crate) now: Timestamp,
    /// The command's name, without arguments.
    pub(crate) command: &'static str,
    log: Log,
}

impl Context {
    pub(crate) fn new(cli: &Cli) -> Self {
        let globals = cli.globals.clone();
        let environment: Environment = std::env::vars_os().collect();
        let printer = Printer::new(&globals, &environment);
        let log = Log::start(globals.effective_log_level(), printer.has_color());
        log.attach(&globals.dir);
        let command = cli.command.name();
        tracing::info!(target: SAID, "landfall {} {command}", env!("CARGO_PKG_VERSION"));
        Self { globals, printer, environment, now: Timestamp::now(), command, log }
    }

    /// Whether somebody sits at a terminal and can be asked.
    pub(crate) fn is_interactive(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Who this run is, for others that want the lock.
    pub(crate) fn holder(&self) -> Holder {
        Holder {
            pid: std::process::id(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            command: self.command.to_owned(),
            since: self.now,
        }
    }

    /// Stops cleanly on Ctrl-C from now on.
    pub(crate) fn interruptible(&self) -> Result<Interrupt, Error> {
        let resume = format!("run 'landfall {}' again in the same directory", self.command);
        Interrupt::listen(self.printer, resume).map_err(Error::Signals)
    }

    /// The install directory has a place for the log now.
    pub(crate) fn attach_log(&self) {
        self.log.attach(&self.globals.dir);
    }

    /// Tells what came of the command, and ends.
    pub(crate) fn finish(&self, outcome: anyhow::Result<()>) -> ExitCode {
        let status = match outcome {
            Ok(()) => ExitStatus::Success,
            Err(error) => {
                let failure = Failure::of(&error);
                self.printer.error(&error, failure.hint);
                failure.status
            }
        };
        tracing::info!(target: SAID, "landfall {} ended with exit code {}", self.command, status.code());
        self.attach_log();
        status.into()
    }
}
