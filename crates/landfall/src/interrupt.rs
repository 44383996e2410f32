//! Ctrl-C and `kill`: a clean stop.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{error::Error, exit::ExitStatus, failure::Failure, printer::Printer};

/// Stops the program on SIGINT and SIGTERM, but never between the first and the last write of a transaction.
///
/// Everything else may be cut short anywhere: until a transaction begins nothing has been written. Work that would rather
/// wind up by itself asks for a [token](Interrupt::token); a second signal then stops it all the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<State>);

#[derive(Debug, Default)]
struct State {
    writing: Mutex<()>,
    token: OnceLock<CancellationToken>,
}

impl Interrupt {
    /// Listens from now on. `resume` tells the user how to go on.
    pub(crate) fn listen(printer: Printer, resume: String) -> io::Result<Self> {
        let interrupt = Self::default();
        let state = interrupt.0.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut interrupted, mut terminated) = {
            let _inside = runtime.enter();
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
        };
        std::thread::spawn(move || {
            let mut next_signal = || {
                runtime.block_on(async {
                    tokio::select! {
                        _ = interrupted.recv() => {}
                        _ = terminated.recv() => {}
                    }
                });
            };
            next_signal();
            if let Some(token) = state.token.get() {
                token.cancel();
                next_signal();
            }
            let _written = state.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let error = anyhow::Error::new(Error::Interrupted);
            printer.error(&error, Failure::of(&error).hint);
            printer.info(format_args!("to go on: {resume}"));
            stop(ExitStatus::Interrupted);
        });
        Ok(interrupt)
    }

    /// What a signal cancels from now on, instead of stopping the program.
    pub(crate) fn token(&self) -> CancellationToken {
        self.0.token.get_or_init(CancellationToken::new).clone()
    }

    /// While the guard lives, a signal waits.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.0.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(clippy::exit, reason = "the thread that is at work may be waiting for the terminal or another program")]
fn stop(status: ExitStatus) {
    std::process::exit(status.code().into());
}
