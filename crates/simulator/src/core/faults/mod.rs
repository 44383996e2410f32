//! Faults: what may go wrong with a call, on which calls, and how often.
//!
//! A rule is one line of text, the same on the command line and at the admin endpoint:
//!
//! ```text
//! METHOD[,METHOD…] PATH [nth=N] [first=N] [from=N] [probability=P] EFFECT [body=html|platform]
//!
//! POST /ovirt-engine/api/vms nth=3 lost-reply
//! GET,HEAD /ovirt-engine/api/* probability=0.1 status=503
//! * * latency=250ms
//! ```
//!
//! `*` as the method means any; in the path it stands for any characters, also `/`. A path with a `?` is compared with
//! path and query, any other one with the path alone. Without `nth`, `first`, `from` or `probability` a rule fires on every call
//! that matches it; given several, all must agree. See [`Effect`] for the effects.

mod effect;
mod grammar;
mod pattern;
mod plan;

pub use effect::{Effect, ErrorBody};
pub use grammar::RuleError;
pub use pattern::PathPattern;
pub use plan::{Decision, Fault, FaultPlan, RuleStatus};

use serde::{Deserialize, Serialize};

/// One fault rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "grammar::RuleFields", into = "grammar::RuleFields")]
pub struct Rule {
    /// The methods it applies to, upper case; none means all.
    pub methods: Vec<String>,
    /// The paths it applies to.
    pub path: PathPattern,
    /// On which of the matching calls it fires.
    pub trigger: Trigger,
    /// What it does.
    pub effect: Effect,
}

/// On which of the calls that match a rule it fires; all given conditions must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trigger {
    /// Only on the n-th matching call, counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nth: Option<u64>,
    /// Only on the first n matching calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// Only on the n-th matching call and those after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// With this probability (0 to 1), drawn for each matching call from the seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
}
