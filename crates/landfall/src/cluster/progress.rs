//! What a run looks like while it runs: a line for every step at work on a terminal, plain lines elsewhere, and JSON lines on
//! stdout for programs.

use std::{
    collections::HashMap,
    io::{self, IsTerminal as _},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use jiff::Timestamp;
use landfall_engine::{Event, EventSink, Phase};
use landfall_platform::{Finding, StepId, Verdict};
use serde::Serialize;

use super::waiting::is_wait;
use crate::{
    cli::Output,
    context::Context,
    failure::Failure,
    printer::{Printer, SAID, print},
};

/// Draws events.
pub(crate) struct Progress {
    printer: Printer,
    json: bool,
    drawing: Option<MultiProgress>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    total: Option<ProgressBar>,
    running: HashMap<StepId, (ProgressBar, String)>,
    titles: HashMap<StepId, String>,
}

/// What programs read besides the engine's own events. Every line has `at` and `event`.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
enum Note<'a> {
    /// What was found on the platform before anything was made.
    Preflight { findings: &'a [Finding] },
    /// What people were told that is not about a step.
    Message { message: &'a str },
    /// The last line.
    Result {
        #[serde(flatten)]
        result: serde_json::Value,
    },
}

#[derive(Serialize)]
struct Line<'a, T> {
    at: Timestamp,
    #[serde(flatten)]
    event: &'a T,
}

/// A run that failed, as its last line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failed {
    outcome: &'static str,
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    exit_code: u8,
}

impl Progress {
    pub(crate) fn new(context: &Context) -> Self {
        let draws = io::stderr().is_terminal() && !context.globals.quiet;
        Self {
            printer: context.printer,
            json: context.globals.output == Output::Json,
            drawing: draws.then(MultiProgress::new),
            state: Mutex::default(),
        }
    }

    /// For a command whose result is one document on stdout: nothing else goes there.
    pub(crate) fn on_stderr(context: &Context) -> Self {
        Self { json: false, ..Self::new(context) }
    }

    /// Says something that is not about a step, above the lines that are being drawn.
    pub(crate) fn say(&self, message: &str) {
        self.line(&Note::Message { message });
        self.above(|printer| printer.info(message));
    }

    /// Says something that the user should know.
    pub(crate) fn warn(&self, message: &str) {
        self.line(&Note::Message { message });
        self.above(|printer| printer.warn(message));
    }

    /// Tells all that was found on the platform: what is good to those who want to know much, the rest to everybody.
    pub(crate) fn preflight(&self, findings: &[Finding]) {
        self.line(&Note::Preflight { findings });
        let good = findings.iter().filter(|finding| finding.verdict == Verdict::Ok).count();
        self.above(|printer| {
            for finding in findings {
                match finding.verdict {
                    Verdict::Ok => printer.debug(finding),
                    Verdict::Notice => printer.warn(finding),
                    Verdict::Problem => printer.problem(finding),
                }
            }
            printer.info(format_args!(
                "looked at the platform: {good} of {} things are as they should be",
                findings.len()
            ));
        });
    }

    /// The last line for programs.
    pub(crate) fn result(&self, result: &impl Serialize) {
        let result = serde_json::to_value(result).unwrap_or_default();
        self.line(&Note::Result { result });
    }

    /// The last line for programs, if the run failed.
    pub(crate) fn failed(&self, error: &anyhow::Error) {
        let Failure { status, hint } = Failure::of(error);
        self.result(&Failed { outcome: "failed", error: format!("{error:#}"), hint, exit_code: status.code() });
    }

    fn line(&self, event: &impl Serialize) {
        if self.json
            && let Ok(line) = serde_json::to_string(&Line { at: Timestamp::now(), event })
        {
            // A reader that is gone does not stop the work.
            let _unread = print(&(line + "\n"));
        }
    }

    fn above(&self, say: impl FnOnce(Printer)) {
        match &self.drawing {
            Some(drawing) => drawing.suspend(|| say(self.printer)),
            None => say(self.printer),
        }
    }
}

impl EventSink for Progress {
    fn event(&self, event: &Event) {
        tracing::debug!(target: SAID, ?event);
        self.line(event);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Event::Started { step, title, .. } = event {
            state.titles.insert(step.clone(), title.clone());
        }
        match &self.drawing {
            Some(drawing) => draw(drawing, &mut state, self.printer, event),
            None => tell(self.printer, &state, event),
        }
    }
}

/// On a terminal: one line for each step at work, and the total below them.
fn draw(drawing: &MultiProgress, state: &mut State, printer: Printer, event: &Event) {
    match event {
        Event::Begin { phase, total, done } => {
            let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} steps, {elapsed} gone, {eta} to go")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = drawing.add(ProgressBar::new(*total as u64).with_style(style));
            bar.set_position(*done as u64);
            bar.set_message(match phase {
                Phase::Ensure => "making ",
                Phase::Remove => "removing",
            });
            bar.enable_steady_tick(Duration::from_millis(200));
            state.total.replace(bar).iter().for_each(ProgressBar::finish_and_clear);
        }
        Event::Started { step, title, .. } => {
            let bar = ProgressBar::new_spinner();
            let bar = match &state.total {
                Some(total) => drawing.insert_before(total, bar),
                None => drawing.add(bar),
            };
            let title = if is_wait(step) { format!("waiting until {title}") } else { title.clone() };
            bar.set_message(title.clone());
            bar.enable_steady_tick(Duration::from_millis(100));
            state.running.insert(step.clone(), (bar, title));
        }
        Event::Progress { step, message } => {
            if let Some((bar, title)) = state.running.get(step) {
                bar.set_message(format!("{title}: {message}"));
            }
        }
        Event::Retrying { step, error, pause, .. } => {
            if let Some((bar, title)) = state.running.get(step) {
                bar.set_message(format!("{title}: {error}; again in {:.1} s", pause.as_secs_f64()));
            }
        }
        Event::Finished { step, .. } | Event::Failed { step, .. } => {
            if let Some((bar, _)) = state.running.remove(step) {
                bar.finish_and_clear();
            }
            if let Some(total) = &state.total {
                total.inc(1);
                if total.length() == Some(total.position()) {
                    total.finish_and_clear();
                }
            }
            drawing.suspend(|| tell(printer, state, event));
        }
    }
}

/// Elsewhere: a line when something ends or goes wrong, and what is seen while the cluster is waited for.
fn tell(printer: Printer, state: &State, event: &Event) {
    let title = |step: &StepId| state.titles.get(step).cloned().unwrap_or_else(|| step.to_string());
    match event {
        Event::Started { step, title, phase: Phase::Ensure } if is_wait(step) => {
            printer.info(format_args!("waiting until {title}"));
        }
        Event::Progress { step, message } if is_wait(step) => printer.info(format_args!("  {message}")),
        Event::Finished { step, phase, took } => {
            let (title, seconds) = (title(step), took.as_secs_f64());
            match phase {
                Phase::Ensure if is_wait(step) => printer.info(format_args!("{title} ({seconds:.1} s)")),
                Phase::Ensure => printer.info(format_args!("made {title} ({seconds:.1} s)")),
                // To give up a wait is not worth a word.
                Phase::Remove if is_wait(step) => {}
                Phase::Remove => printer.info(format_args!("removed {title} ({seconds:.1} s)")),
            }
        }
        Event::Retrying { step, error, pause, .. } => {
            printer.info(format_args!("{}: {error}; again in {:.1} s", title(step), pause.as_secs_f64()));
        }
        Event::Failed { step, error, .. } => printer.warn(format_args!("{}: {error}", title(step))),
        Event::Begin { .. } | Event::Started { .. } | Event::Progress { .. } => {}
    }
}
