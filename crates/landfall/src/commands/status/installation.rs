//! Where an installation stands, as its journal tells it. Reads only, so it may be asked for while another run installs.

use std::fmt;

use jiff::Timestamp;
use landfall_engine::{Entry, Snapshot, State, Timing};
use landfall_platform::{ErrorClass, StepId, bootstrap_step};
use landfall_workdir::Holder;
use serde::Serialize;

use crate::cluster::{Wait, is_wait, retired_steps};

/// Where an installation stands.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Installation {
    phase: Phase,
    /// The run that is at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<Holder>,
    steps: Vec<Step>,
    timing: Times,
    /// What to do next.
    next: &'static str,
}

/// How far an installation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    Infrastructure,
    Bootstrap,
    Completion,
    Ready,
    Removal,
    Destroyed,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    id: StepId,
    title: String,
    state: Standing,
    began: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Timestamp>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_class: Option<ErrorClass>,
}

/// Where a step stands, given whether somebody is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Standing {
    Done,
    Running,
    Removing,
    /// It was begun and nobody is at work: how far it came is unknown.
    Interrupted,
    Failed,
    RemoveFailed,
    Removed,
}

/// Where the time went.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Times {
    elapsed_seconds: f64,
    critical_seconds: f64,
    critical_path: Vec<Span>,
    steps: Vec<Span>,
}

#[derive(Debug, Serialize)]
struct Span {
    id: StepId,
    #[serde(skip)]
    title: String,
    seconds: f64,
}

impl Installation {
    /// Nothing if nothing was ever begun.
    pub(super) fn new(snapshot: &Snapshot, running: Option<Holder>, now: Timestamp) -> Option<Self> {
        if snapshot.entries.is_empty() {
            return None;
        }
        let phase = Phase::of(snapshot);
        let failed = snapshot.entries.iter().any(|entry| entry.failure.is_some());
        Some(Self {
            next: phase.next(running.is_some(), failed),
            phase,
            steps: snapshot.entries.iter().map(|entry| Step::new(entry, running.is_some(), now)).collect(),
            timing: Times::of(snapshot),
            running,
        })
    }

    /// Whether there is a bootstrap machine at work, to be asked how far it is.
    pub(super) fn awaits_bootstrap(&self) -> bool {
        self.phase == Phase::Bootstrap
    }

    /// Returns true if the masters have the control plane, so that the cluster's API can be asked.
    pub(super) fn has_control_plane(&self) -> bool {
        matches!(self.phase, Phase::Completion | Phase::Ready)
    }
}

impl Phase {
    fn of(snapshot: &Snapshot) -> Self {
        let state = |id: &StepId| snapshot.entry(id).map(|entry| entry.state);
        let leaving = |state| matches!(state, State::Removing | State::RemoveFailed | State::Removed);
        let (bootstrap, retired) = (bootstrap_step(), retired_steps());
        if snapshot.remaining().next().is_none() {
            Self::Destroyed
        } else if snapshot.entries.iter().any(|entry| leaving(entry.state) && !retired.contains(&entry.spec.id)) {
            Self::Removal
        } else if state(&Wait::Nodes(0).step()) == Some(State::Done) {
            Self::Ready
        } else if state(&bootstrap).is_some_and(leaving) {
            Self::Completion
        } else if state(&Wait::Api.step()).is_some() {
            Self::Bootstrap
        } else {
            Self::Infrastructure
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Infrastructure => "making the infrastructure",
            Self::Bootstrap => "bringing up the control plane",
            Self::Completion => "waiting for the nodes",
            Self::Ready => "ready",
            Self::Removal => "being destroyed",
            Self::Destroyed => "destroyed",
        }
    }

    fn next(self, running: bool, failed: bool) -> &'static str {
        match self {
            Self::Ready => "use it: auth/kubeconfig leads to its API",
            Self::Destroyed => "'landfall create cluster' begins a new one, with an infra id and keys of its own",
            Self::Removal if running => "wait until 'landfall destroy cluster' is done",
            Self::Removal => "run 'landfall destroy cluster' again",
            _ if running => "wait; 'landfall wait-for install-complete' tells when it is ready",
            Self::Bootstrap if failed => {
                "'landfall gather bootstrap' collects what there is to know; 'landfall create cluster' goes on, 'landfall \
                 destroy cluster' removes what was created"
            }
            Self::Infrastructure | Self::Bootstrap | Self::Completion => {
                "'landfall create cluster' goes on, 'landfall destroy cluster' removes what was created"
            }
        }
    }
}

impl Step {
    fn new(entry: &Entry, running: bool, now: Timestamp) -> Self {
        let state = match entry.state {
            State::Ensuring if running => Standing::Running,
            State::Removing if running => Standing::Removing,
            State::Ensuring | State::Removing => Standing::Interrupted,
            State::Done => Standing::Done,
            State::Failed => Standing::Failed,
            State::RemoveFailed => Standing::RemoveFailed,
            State::Removed => Standing::Removed,
        };
        let failure = entry.failure.as_ref();
        Self {
            id: entry.spec.id.clone(),
            title: entry.spec.title.clone(),
            state,
            began: entry.began,
            ended: entry.ended,
            seconds: entry.ended.unwrap_or(now).duration_since(entry.began).as_secs_f64(),
            error: failure.map(|failure| failure.error.clone()),
            error_class: failure.map(|failure| failure.class),
        }
    }
}

impl Standing {
    fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Running => "running",
            Self::Removing => "removing",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::RemoveFailed => "not removed",
            Self::Removed => "removed",
        }
    }
}

impl Times {
    fn of(snapshot: &Snapshot) -> Self {
        let timing = Timing::of(snapshot);
        let span = |id: &StepId| {
            let took = timing.steps.iter().find(|(step, _)| step == id).map(|(_, took)| took.as_secs_f64());
            let title = snapshot.entry(id).map(|entry| entry.spec.title.clone());
            Span { id: id.clone(), title: title.unwrap_or_default(), seconds: took.unwrap_or_default() }
        };
        Self {
            elapsed_seconds: timing.elapsed.as_secs_f64(),
            critical_seconds: timing.critical.as_secs_f64(),
            critical_path: timing.critical_path.iter().map(span).collect(),
            steps: timing.steps.iter().map(|(id, _)| span(id)).collect(),
        }
    }
}

impl fmt::Display for Installation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "installation      {}", self.phase.title())?;
        if let Some(holder) = &self.running {
            writeln!(f, "at work           {holder}")?;
        }
        let shown = || self.steps.iter().filter(|step| !(is_wait(&step.id) && step.state == Standing::Removed));
        let width = shown().map(|step| step.title.len()).max().unwrap_or_default();
        for Step { title, state, seconds, error, .. } in shown() {
            writeln!(f, "  {:<12}  {title:<width$}  {seconds:>7.1} s", state.word())?;
            if let Some(error) = error {
                writeln!(f, "                {error}")?;
            }
        }
        if !self.timing.critical_path.is_empty() {
            let Times { elapsed_seconds, critical_seconds, critical_path, .. } = &self.timing;
            writeln!(
                f,
                "time              {elapsed_seconds:.1} s, of which the longest chain took {critical_seconds:.1} s"
            )?;
            for Span { title, seconds, .. } in critical_path {
                writeln!(f, "                {title:<width$}  {seconds:>7.1} s")?;
            }
        }
        writeln!(f, "next              {}", self.next)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use landfall_engine::{Failure, Made};
    use landfall_platform::StepSpec;

    use super::*;

    fn entry(id: &str, needs: &[&str], state: State, began: i64, ended: Option<i64>) -> Entry {
        let time = |second| Timestamp::from_second(second).unwrap();
        Entry {
            spec: StepSpec {
                id: id.into(),
                title: format!("the {id}"),
                kind: "thing".into(),
                needs: needs.iter().map(|&need| need.into()).collect(),
                timeout: Duration::from_mins(1),
                desired: serde_json::Value::Null,
            },
            state,
            outputs: None,
            failure: (state == State::Failed)
                .then(|| Failure { class: ErrorClass::Capacity, error: "no host has room".to_owned() }),
            began: time(began),
            ended: ended.map(time),
            made: ended.filter(|_| state != State::Failed).map(|ended| Made { began: time(began), ended: time(ended) }),
        }
    }

    fn status(entries: Vec<Entry>, running: bool) -> Installation {
        let holder =
            Holder { pid: 7, host: "h".into(), command: "create cluster".into(), since: Timestamp::UNIX_EPOCH };
        let snapshot = Snapshot { infra_id: "demo-x7k2p".parse().unwrap(), entries };
        Installation::new(&snapshot, running.then_some(holder), Timestamp::from_second(100).unwrap()).unwrap()
    }

    #[test]
    fn phases_follow_from_the_journal() {
        use State::{Done, Ensuring, RemoveFailed, Removed, Removing};
        let cases: [(&[(&str, State)], Phase); 9] = [
            (&[("tag", Done), ("vm/bootstrap", Ensuring)], Phase::Infrastructure),
            (&[("tag", Done), ("vm/bootstrap", Done), ("wait/api", Ensuring)], Phase::Bootstrap),
            (&[("tag", Done), ("vm/bootstrap", Removing), ("wait/api", Done)], Phase::Completion),
            (&[("tag", Done), ("vm/bootstrap", Removed), ("wait/nodes", Ensuring)], Phase::Completion),
            (&[("tag", Done), ("vm/bootstrap", Removed), ("wait/nodes", Done)], Phase::Ready),
            (
                &[("workspace", Done), ("object-storage", Removed), ("vm/bootstrap", Removed), ("wait/nodes", Done)],
                Phase::Ready,
            ),
            (&[("tag", Done), ("vm/master-0", Removing), ("wait/nodes", Removed)], Phase::Removal),
            (&[("tag", RemoveFailed), ("vm/master-0", Removed)], Phase::Removal),
            (&[("tag", Removed), ("vm/bootstrap", Removed)], Phase::Destroyed),
        ];
        for (states, phase) in cases {
            let entries = states.iter().map(|(id, state)| entry(id, &[], *state, 0, None)).collect();
            assert_eq!(status(entries, true).phase, phase, "{states:?}");
        }
    }

    #[test]
    fn people_see_states_times_errors_and_what_to_do() {
        let entries = || {
            vec![
                entry("tag", &[], State::Done, 0, Some(2)),
                entry("vm/bootstrap", &["tag"], State::Removed, 2, Some(40)),
                entry("vm/master-0", &["tag"], State::Failed, 2, Some(30)),
                entry("wait/api", &["vm/bootstrap"], State::Ensuring, 40, None),
            ]
        };
        insta::assert_snapshot!(status(entries(), true), @r"
        installation      waiting for the nodes
        at work           'landfall create cluster' (process 7 on h, since 1970-01-01T00:00:00Z)
          done          the tag               2.0 s
          removed       the vm/bootstrap     38.0 s
          failed        the vm/master-0      28.0 s
                        no host has room
          running       the wait/api         60.0 s
        time              40.0 s, of which the longest chain took 40.0 s
                        the tag               2.0 s
                        the vm/bootstrap     38.0 s
        next              wait; 'landfall wait-for install-complete' tells when it is ready
        ");
        let stopped = status(entries(), false).to_string();
        assert!(stopped.contains("interrupted   the wait/api"), "{stopped}");
        assert!(stopped.contains("'landfall create cluster' goes on"), "{stopped}");
    }

    #[test]
    fn nothing_begun_is_nothing_to_tell() {
        let snapshot = Snapshot { infra_id: "demo-x7k2p".parse().unwrap(), entries: Vec::new() };
        assert!(Installation::new(&snapshot, None, Timestamp::UNIX_EPOCH).is_none());
    }
}
