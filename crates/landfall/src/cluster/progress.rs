//! What a run looks like while it runs: a line for every step at work on a terminal, plain lines elsewhere, JSON for programs.

use std::{
    collections::HashMap,
    io::{self, IsTerminal as _},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use landfall_engine::{Event, EventSink, Phase};
use landfall_platform::StepId;

use crate::{
    cli::Output,
    printer::{Printer, SAID, print},
};

/// Draws events.
pub(crate) struct Progress {
    printer: Printer,
    output: Output,
    drawing: Option<MultiProgress>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    total: Option<ProgressBar>,
    running: HashMap<StepId, (ProgressBar, String)>,
    titles: HashMap<StepId, String>,
}

impl Progress {
    pub(crate) fn new(printer: Printer, output: Output, quiet: bool) -> Self {
        let draws = io::stderr().is_terminal() && !quiet;
        Self { printer, output, drawing: draws.then(MultiProgress::new), state: Mutex::default() }
    }

    /// Says something that is not about a step, above the lines that are being drawn.
    pub(crate) fn say(&self, text: &str) {
        match &self.drawing {
            Some(drawing) => drawing.suspend(|| self.printer.info(text)),
            None => self.printer.info(text),
        }
    }
}

impl EventSink for Progress {
    fn event(&self, event: &Event) {
        tracing::debug!(target: SAID, ?event);
        if self.output == Output::Json
            && let Ok(line) = serde_json::to_string(event)
        {
            // A reader that is gone does not stop the work.
            let _unread = print(&(line + "\n"));
        }
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
            state.total = Some(bar);
        }
        Event::Started { step, title, .. } => {
            let bar = ProgressBar::new_spinner();
            let bar = match &state.total {
                Some(total) => drawing.insert_before(total, bar),
                None => drawing.add(bar),
            };
            bar.set_message(title.clone());
            bar.enable_steady_tick(Duration::from_millis(100));
            state.running.insert(step.clone(), (bar, title.clone()));
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

/// Elsewhere: a line when something ends or goes wrong.
fn tell(printer: Printer, state: &State, event: &Event) {
    let title = |step: &StepId| state.titles.get(step).cloned().unwrap_or_else(|| step.to_string());
    match event {
        Event::Finished { step, phase, took } => {
            let verb = match phase {
                Phase::Ensure => "made",
                Phase::Remove => "removed",
            };
            printer.info(format_args!("{verb} {} ({:.1} s)", title(step), took.as_secs_f64()));
        }
        Event::Retrying { step, error, pause, .. } => {
            printer.info(format_args!("{}: {error}; again in {:.1} s", title(step), pause.as_secs_f64()));
        }
        Event::Failed { step, error, .. } => printer.warn(format_args!("{}: {error}", title(step))),
        Event::Begin { .. } | Event::Started { .. } | Event::Progress { .. } => {}
    }
}
