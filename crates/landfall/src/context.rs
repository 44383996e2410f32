//! What every command is given.

use std::{process::ExitCode, sync::OnceLock};

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
    interrupt: OnceLock<Interrupt>,
}

impl Context {
    pub(crate) fn new(cli: &Cli) -> Self {
        let globals = cli.globals.clone();
        let environment: Environment = std::env::vars_os().collect();
        let printer = Printer::new(&globals, &environment);
        let level = cli.command.traced_level(globals.effective_log_level());
        let log = if cli.command.is_service() {
            Log::of_service(level, globals.output)
        } else {
            Log::start(level, printer.has_color())
        };
        log.attach(&globals.dir);
        let command = cli.command.name();
        tracing::info!(target: SAID, "landfall {} {command}", env!("CARGO_PKG_VERSION"));
        Self { globals, printer, environment, now: Timestamp::now(), command, log, interrupt: OnceLock::new() }
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
    pub(crate) fn interruptible(&self) -> Result<&Interrupt, Error> {
        let (printer, log, dir, command) = (self.printer, self.log.clone(), self.globals.dir.clone(), self.command);
        let farewell = move || {
            printer.error(&Error::Interrupted.into(), None);
            printer.info(format_args!("to go on: run 'landfall {command}' again"));
            log.attach(&dir);
        };
        let interrupt = Interrupt::listen(farewell).map_err(Error::Signals)?;
        Ok(self.interrupt.get_or_init(|| interrupt))
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
                self.interrupt.get().into_iter().for_each(Interrupt::check);
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
