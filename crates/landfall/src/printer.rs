//! What is shown, and where: people read stderr, programs read stdout.

use std::{
    fmt::Display,
    io::{self, IsTerminal as _, Write as _},
};

use landfall_platform::Environment;
use owo_colors::{OwoColorize as _, Style};
use serde::Serialize;
use tracing::Level;

use crate::{
    cli::{Color, Globals, LogLevel, Output},
    pasteable::Pasteable,
};

/// The target of events that go only into the log: what the printer says has its own way to stderr.
pub(crate) const SAID: &str = "landfall::said";

/// Decides what is shown. Nothing else in the program writes to stdout or stderr.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    level: LogLevel,
    output: Output,
    color: bool,
    commands: Pasteable,
}

/// A result that is shown to people as text and to programs as JSON.
pub(crate) trait Report: Serialize + Display {}

impl Printer {
    /// As the flags and the environment say. `NO_COLOR` is honoured.
    pub(crate) fn new(globals: &Globals, environment: &Environment) -> Self {
        let dumb = environment.get("TERM").is_some_and(|term| term == "dumb");
        let color = match globals.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stderr().is_terminal() && environment.get("NO_COLOR").is_none() && !dumb,
        };
        let commands = Pasteable::new(&globals.dir);
        Self { level: globals.effective_log_level(), output: globals.output, color, commands }
    }

    /// Whether what people read has colours.
    pub(crate) fn has_color(self) -> bool {
        self.color
    }

    /// Tells what was done.
    pub(crate) fn info(self, text: impl Display) {
        tracing::info!(target: SAID, "{text}");
        self.say(LogLevel::Info, None, &text);
    }

    /// Tells details to those who want to know much.
    pub(crate) fn debug(self, text: impl Display) {
        tracing::debug!(target: SAID, "{text}");
        self.say(LogLevel::Debug, None, &text);
    }

    /// Begins a chapter.
    pub(crate) fn heading(self, text: &str) {
        let style = if self.color { Style::new().bold() } else { Style::new() };
        self.info(format_args!("\n{}", text.style(style)));
    }

    /// Shows a command that is about to be run.
    pub(crate) fn command(self, text: &str) {
        let style = if self.color { Style::new().cyan() } else { Style::new() };
        self.info(format_args!("$ {}", text.style(style)));
    }

    /// Tells what stands in the way.
    pub(crate) fn problem(self, text: impl Display) {
        tracing::error!(target: SAID, "{text}");
        self.say(LogLevel::Error, Some(("problem:", Style::new().red().bold())), &text);
    }

    /// Tells what the user should know.
    pub(crate) fn warn(self, text: impl Display) {
        tracing::warn!(target: SAID, "{text}");
        self.say(LogLevel::Warn, Some(("warning:", Style::new().yellow().bold())), &text);
    }

    /// Tells what went wrong: the error and its causes, once, then what to do.
    pub(crate) fn error(self, error: &anyhow::Error, hint: Option<&str>) {
        tracing::error!(target: SAID, "{error:#}");
        let causes = error.chain().skip(1).map(|cause| format!("\n  because: {cause}"));
        let text = format!("{error}{}", causes.collect::<String>());
        self.say(LogLevel::Error, Some(("error:", Style::new().red().bold())), &text);
        if let Some(hint) = hint {
            self.say(LogLevel::Error, Some(("hint:", Style::new().cyan().bold())), &hint);
        }
    }

    /// Shows a difference; lines that begin with `+`, `-` and `~` have their customary colours. Not part of the log.
    pub(crate) fn difference(self, text: &str) {
        let paint = |line: &str| match line.as_bytes().first() {
            _ if !self.color => line.to_owned(),
            Some(b'+') => line.green().to_string(),
            Some(b'-') => line.red().to_string(),
            Some(b'~') => line.yellow().to_string(),
            _ => line.to_owned(),
        };
        for line in text.lines() {
            self.say(LogLevel::Error, None, &paint(line));
        }
    }

    /// Prints a result to stdout, in the form that was asked for.
    pub(crate) fn report(self, report: &impl Report) -> io::Result<()> {
        match self.output {
            Output::Text => print(&report.to_string()),
            Output::Json => json(report),
        }
    }

    /// Prints a result to stdout only if text was asked for: programs get it as part of another line.
    pub(crate) fn text(self, report: &impl Report) -> io::Result<()> {
        match self.output {
            Output::Text => print(&report.to_string()),
            Output::Json => Ok(()),
        }
    }

    /// Prints a result to stdout only if JSON was asked for: people were already told.
    pub(crate) fn summary(self, summary: &impl Serialize) -> io::Result<()> {
        match self.output {
            Output::Text => Ok(()),
            Output::Json => json(summary),
        }
    }

    fn say(self, level: LogLevel, label: Option<(&str, Style)>, text: &dyn Display) {
        if level > self.level {
            return;
        }
        let label = match label {
            Some((label, style)) if self.color => format!("{} ", label.style(style)),
            Some((label, _)) => format!("{label} "),
            None => String::new(),
        };
        let text = text.to_string();
        // If stderr is closed, there is no other place for the message.
        let _closed = writeln!(io::stderr().lock(), "{label}{}", self.commands.complete(&text));
    }
}

fn json(value: &impl Serialize) -> io::Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// Prints text to stdout. A reader that has seen enough (`| head`) is no failure.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

impl From<LogLevel> for Level {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}
