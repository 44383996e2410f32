//! The log of all runs: `.landfall/landfall.log`.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use landfall_workdir::{LOG, STATE_DIRECTORY};
use tracing::{Level, Metadata};
use tracing_subscriber::{
    Layer as _,
    filter::{FilterFn, LevelFilter},
    fmt::{self, MakeWriter},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::{
    cli::{LogLevel, Output},
    printer::SAID,
};

/// The log of this run. It is kept in memory until the install directory has a place for it: a run that writes nothing
/// else into a directory does not leave a log there either.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Sink>>);

#[derive(Debug)]
enum Sink {
    Memory(Vec<u8>),
    File(File),
}

impl Default for Sink {
    fn default() -> Self {
        Self::Memory(Vec::new())
    }
}

impl Log {
    /// Makes a log of everything that is traced from now on; what the level asks for also goes to stderr.
    pub(crate) fn start(level: LogLevel, color: bool) -> Self {
        let log = Self::default();
        let file = fmt::layer()
            .with_writer(log.clone())
            .with_ansi(false)
            .with_filter(FilterFn::new(|metadata| is_ours(metadata) || *metadata.level() <= Level::INFO))
            .with_filter(LevelFilter::DEBUG);
        let stderr = fmt::layer()
            .with_writer(io::stderr)
            .with_ansi(color)
            .without_time()
            .with_filter(FilterFn::new(|metadata| is_ours(metadata) && metadata.target() != SAID))
            .with_filter(LevelFilter::from_level(level.into()));
        tracing_subscriber::registry().with(file).with(stderr).init();
        log
    }

    /// What a service says goes to stderr, each line with its time, and nowhere else: who runs it keeps what is said. As JSON, where that
    /// was asked for.
    pub(crate) fn of_service(level: LogLevel, output: Output) -> Self {
        let wanted = || FilterFn::new(|metadata| is_ours(metadata) && metadata.target() != SAID);
        let level = LevelFilter::from_level(level.into());
        let lines = fmt::layer().with_writer(io::stderr).with_ansi(false);
        let registry = tracing_subscriber::registry();
        match output {
            Output::Text => registry.with(lines.with_filter(wanted()).with_filter(level)).init(),
            Output::Json => registry.with(lines.json().with_filter(wanted()).with_filter(level)).init(),
        }
        Self::default()
    }

    /// Moves the log into an install directory, if it has a place for it. A log that cannot be written (a directory of
    /// somebody else, a full disk) is no reason to fail.
    pub(crate) fn attach(&self, dir: &Path) {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Sink::Memory(buffer) = &*sink else { return };
        if !dir.join(STATE_DIRECTORY).is_dir() {
            return;
        }
        let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(dir.join(LOG));
        if let Ok(mut file) = opened
            && file.write_all(buffer).is_ok()
        {
            *sink = Sink::File(file);
        }
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("landfall")
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Memory(buffer) => buffer.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One event at a time.
pub(crate) struct Turn(Arc<Mutex<Sink>>);

impl Write for Turn {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Turn;

    fn make_writer(&self) -> Turn {
        Turn(self.0.clone())
    }
}
