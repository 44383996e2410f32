//! What a guest prints on its console, kept for people and tests to read.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// Lines that are kept; a machine that retries for ever must not fill the memory.
const LINES: usize = 200;

/// The console of one machine. A line that repeats the last one is counted instead of kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Console(Arc<Mutex<VecDeque<(String, usize)>>>);

impl Console {
    /// Prints a line.
    pub(super) fn print(&self, line: impl Into<String>) {
        let line = line.into();
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.back_mut() {
            Some((last, times)) if *last == line => *times += 1,
            _ => {
                if lines.len() == LINES {
                    lines.pop_front();
                }
                lines.push_back((line, 1));
            }
        }
    }

    /// All lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shown =
            |(line, times): &(String, usize)| if *times == 1 { line.clone() } else { format!("{line} (×{times})") };
        lines.iter().map(shown).collect()
    }
}

/// An error and what led to it, in one line.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_lines_are_counted_and_old_ones_forgotten() {
        let console = Console::default();
        console.print("a");
        console.print("b");
        console.print("b");
        assert_eq!(console.lines(), ["a", "b (×2)"]);
        for number in 0..LINES {
            console.print(number.to_string());
        }
        assert_eq!(console.lines().len(), LINES);
        assert_eq!(console.lines()[0], "0");
    }
}
