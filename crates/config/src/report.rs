//! Where the steps of parsing put what they find.

use crate::{Notice, Problem};

/// What is kept of each kind. Nobody reads more, and a hostile file could ask for far more than it has bytes itself.
const MAX_KEPT: usize = 100;

/// What was found so far.
#[derive(Default)]
pub(crate) struct Report {
    problems: Vec<Problem>,
    total: usize,
    notices: Vec<Notice>,
}

impl Report {
    /// Adds a problem.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problem_with(|| problem);
    }

    /// Adds a problem whose text takes time to make, which is spent only if it is kept.
    pub(crate) fn problem_with(&mut self, problem: impl FnOnce() -> Problem) {
        self.total += 1;
        if self.problems.len() < MAX_KEPT {
            self.problems.push(problem());
        }
    }

    /// Adds the outcome of a check.
    pub(crate) fn check(&mut self, outcome: Option<Problem>) {
        if let Some(problem) = outcome {
            self.problem(problem);
        }
    }

    /// Adds a notice.
    pub(crate) fn notice(&mut self, path: impl Into<String>, message: impl Into<String>) {
        if self.notices.len() < MAX_KEPT {
            self.notices.push(Notice::new(path, message));
        }
    }

    /// Adds what another report holds, apart from problems that do not count.
    pub(crate) fn extend(&mut self, other: Self, counts: impl Fn(&Problem) -> bool) {
        let dropped = other.total - other.problems.len();
        for problem in other.problems.into_iter().filter(counts) {
            self.problem(problem);
        }
        self.total += dropped;
        for notice in other.notices {
            self.notice(notice.path, notice.message);
        }
    }

    /// The problems that were kept, how many there were, and the notices.
    pub(crate) fn into_parts(self) -> (Vec<Problem>, usize, Vec<Notice>) {
        (self.problems, self.total, self.notices)
    }
}
