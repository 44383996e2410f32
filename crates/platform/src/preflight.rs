//! What was found out about a platform before anything is made on it.

use std::fmt;

use serde::Serialize;

/// One thing that was looked at, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at, in a few words: `storage domain`.
    pub check: &'static str,
    /// Whether it is good.
    pub verdict: Verdict,
    /// What was seen.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The field of the install-config that is to blame, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
}

/// Whether something is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is as it should be.
    Ok,
    /// It works, and the user should know.
    Notice,
    /// The installation would fail.
    Problem,
}

impl Finding {
    /// Something is as it should be.
    pub fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, message: message.into(), hint: None, field: None }
    }

    /// The user should know something.
    pub fn notice(check: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Notice, message: message.into(), hint: Some(hint.into()), field: None }
    }

    /// The installation would fail.
    pub fn problem(check: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Problem, message: message.into(), hint: Some(hint.into()), field: None }
    }

    /// Blames a field of the install-config.
    #[must_use]
    pub fn blame(self, field: &'static str) -> Self {
        Self { field: Some(field), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { check, message, hint, .. } = self;
        write!(f, "{check}: {message}")?;
        hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// What came of looking at a platform. `F` is what its plan needs to know.
#[derive(Clone, Debug)]
pub struct Preflight<F> {
    /// All that was looked at, in a fixed order.
    pub findings: Vec<Finding>,
    /// What the plan needs to know; none if it could not be found out, in which case there is a problem.
    pub facts: Option<F>,
}

impl<F> Preflight<F> {
    /// Whether something would make the installation fail.
    pub fn has_problems(&self) -> bool {
        self.findings.iter().any(|finding| finding.verdict == Verdict::Problem)
    }
}
