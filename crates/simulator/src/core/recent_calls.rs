//! The last calls that were answered, to explain a test that failed.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many calls are kept.
const KEPT: usize = 40;

/// One answered call.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) method: String,
    /// The path, with the query if there was one; without secrets.
    pub(super) target: String,
    /// None if the connection ended without an answer.
    pub(super) status: Option<u16>,
    /// The fault that took effect.
    pub(super) fault: Option<&'static str>,
}

/// The last calls, the oldest first.
#[derive(Debug, Default)]
pub(super) struct RecentCalls(Mutex<VecDeque<Answered>>);

impl RecentCalls {
    pub(super) fn note(&self, call: Answered) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() == KEPT {
            calls.pop_front();
        }
        calls.push_back(call);
    }

    /// Returns a line for each call.
    pub(super) fn lines(&self) -> String {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().flat_map(|call| ["  ".to_owned(), call.line(), "\n".to_owned()]).collect()
    }
}

impl Answered {
    fn line(&self) -> String {
        let status = self.status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
        let fault = self.fault.map(|fault| format!(" ({fault})")).unwrap_or_default();
        format!("{} {} -> {status}{fault}", self.method, self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_calls_are_kept_in_order() {
        let calls = RecentCalls::default();
        for number in 0..=KEPT {
            let fault = (number == KEPT).then_some("lost-reply");
            calls.note(Answered { method: "GET".into(), target: format!("/x{number}"), status: Some(200), fault });
        }
        let lines = calls.lines();
        assert_eq!(lines.lines().count(), KEPT);
        assert!(lines.starts_with("  GET /x1 -> 200\n"), "{lines}");
        assert!(lines.ends_with("  GET /x40 -> 200 (lost-reply)\n"), "{lines}");
    }
}
