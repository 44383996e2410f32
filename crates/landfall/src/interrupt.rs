//! Ctrl-C and `kill`: a clean stop.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
    iterator::Signals,
};
use tokio_util::sync::CancellationToken;

use crate::exit::ExitStatus;

/// Stops the program on SIGINT and SIGTERM, but never between the first and the last write of a transaction.
///
/// Everything else may be cut short anywhere: until a transaction begins nothing has been written. Work that would rather
/// wind up by itself asks for a [token](Interrupt::token); a second signal then stops it all the same.
#[derive(Debug)]
pub(crate) struct Interrupt {
    writing: Arc<Mutex<()>>,
    requested: Arc<AtomicBool>,
    token: Arc<OnceLock<CancellationToken>>,
}

impl Interrupt {
    /// Listens from now on. `farewell` is called before the program ends.
    pub(crate) fn listen(farewell: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let interrupt = Self { writing: Arc::default(), requested: Arc::default(), token: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            flag::register(signal, interrupt.requested.clone())?;
        }
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let (writing, token) = (interrupt.writing.clone(), interrupt.token.clone());
        std::thread::spawn(move || {
            let mut signals = signals.forever();
            let mut came = signals.next().is_some();
            if let Some(token) = token.get().filter(|_| came) {
                token.cancel();
                came = signals.next().is_some();
            }
            if came {
                let _written = writing.lock().unwrap_or_else(PoisonError::into_inner);
                farewell();
                stop(ExitStatus::Interrupted);
            }
        });
        Ok(interrupt)
    }

    /// What a signal cancels from now on, instead of stopping the program.
    pub(crate) fn token(&self) -> CancellationToken {
        self.token.get_or_init(CancellationToken::new).clone()
    }

    /// While the guard lives, a signal waits.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does not return if a signal has come. What failed then failed because of it: Ctrl-C reaches the programs that we
    /// started, too.
    pub(crate) fn check(&self) {
        while self.token.get().is_none() && self.requested.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }
}

#[expect(clippy::exit, reason = "the thread that is at work may be waiting for the terminal or another program")]
fn stop(status: ExitStatus) {
    std::process::exit(status.code().into());
}
