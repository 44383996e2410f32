//! A stage compared with what is recorded and what lies on disk.

use std::collections::{BTreeMap, BTreeSet};

use landfall_platform::{File, FileSet};

use crate::{
    Choice, Choices, Digest, Inputs, Outcome, Plan, Stage, StageRecord,
    judge::{Circumstances, Sight, Verdict},
    plan::PlannedFile,
};

/// A stage whose files have all been judged. [`Evaluation::settle`] turns it into a plan, if no question is open.
#[derive(Debug)]
pub struct Evaluation {
    stage: Stage,
    inputs: Inputs,
    changed: Vec<String>,
    files: BTreeMap<String, Judged>,
}

#[derive(Debug)]
struct Judged {
    sight: Sight,
    verdict: Verdict,
    on_disk: Option<File>,
    rendered: Option<File>,
}

/// Files that are out of date, and nobody has said what to do with them.
#[derive(Debug, thiserror::Error)]
#[error("{} of {stage} out of date, because {} changed", count(files.len()), changed.join(", "))]
pub struct Unsettled {
    /// The stage.
    pub stage: &'static str,
    /// The inputs that changed.
    pub changed: Vec<String>,
    /// The files.
    pub files: Vec<StaleFile>,
}

/// A file that is out of date.
#[derive(Debug)]
pub struct StaleFile {
    /// Its path.
    pub path: String,
    /// Whether it holds the user's own work.
    pub edited: bool,
    /// What lies on disk.
    pub on_disk: File,
    /// What would take its place; nothing if it is no longer part of the stage.
    pub rendered: Option<File>,
}

fn count(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

impl Evaluation {
    /// Judges every file that is recorded, on disk or rendered.
    ///
    /// `on_disk` holds what [`WorkDir::sight`](crate::WorkDir::sight) found for the same stage, record and rendering.
    pub fn new(
        stage: Stage,
        record: Option<&StageRecord>,
        on_disk: &FileSet,
        rendered: &FileSet,
        inputs: Inputs,
    ) -> Self {
        let record = record.filter(|record| !is_gone(record, on_disk));
        let changed = record.map(|record| inputs.changed_since(&record.inputs)).unwrap_or_default();
        let circumstances = Circumstances {
            open: stage.membership.is_open(),
            complete: record.is_none_or(|record| record.complete),
            inputs_changed: !changed.is_empty(),
        };
        let recorded = |path: &str| record.and_then(|record| record.files.get(path)).copied();
        let paths: BTreeSet<&str> = record
            .into_iter()
            .flat_map(|record| record.files.keys().map(String::as_str))
            .chain(on_disk.iter().map(|(path, _)| path))
            .chain(rendered.iter().map(|(path, _)| path))
            .collect();
        let judge = |path: &str| {
            let (on_disk, rendered) = (on_disk.get(path), rendered.get(path));
            let digest = |file: &File| Digest::of(&file.contents);
            let sight =
                Sight { recorded: recorded(path), on_disk: on_disk.map(digest), rendered: rendered.map(digest) };
            let verdict = sight.judge(circumstances)?;
            Some(Judged { sight, verdict, on_disk: on_disk.cloned(), rendered: rendered.cloned() })
        };
        let files = paths.into_iter().filter_map(|path| Some((path.to_owned(), judge(path)?))).collect();
        Self { stage, inputs, changed, files }
    }

    /// Applies the user's choices. Without a choice for every stale file there is no plan, so nothing can be written.
    pub fn settle(self, choices: &Choices) -> Result<Plan, Unsettled> {
        let Self { stage, inputs, changed, files } = self;
        let mut open = Vec::new();
        let mut planned = BTreeMap::new();
        for (path, judged) in files {
            match judged.outcome(choices.named(&path), choices.otherwise()) {
                Some(outcome) => {
                    planned.insert(path, judged.plan(outcome));
                }
                None => open.extend(judged.stale(path)),
            }
        }
        if open.is_empty() {
            Ok(Plan { stage, inputs, files: planned })
        } else {
            Err(Unsettled { stage: stage.name, changed, files: open })
        }
    }
}

/// Whether all of a stage's files are gone: then the user wants it made from scratch, not kept empty.
fn is_gone(record: &StageRecord, on_disk: &FileSet) -> bool {
    record.files.keys().all(|path| on_disk.get(path).is_none())
}

impl Judged {
    /// What becomes of the file under a choice made for it by name, or one made for all stale files.
    fn outcome(&self, named: Option<Choice>, otherwise: Option<Choice>) -> Option<Outcome> {
        match self.verdict {
            Verdict::Settled(outcome) => Some(match named {
                Some(Choice::Regenerate) if self.can_be_undone(outcome) => Outcome::Regenerate,
                _ => outcome,
            }),
            Verdict::Stale => Some(match named.or(otherwise)? {
                Choice::KeepStale => Outcome::KeepStale,
                Choice::Regenerate if self.rendered.is_some() => Outcome::Regenerate,
                Choice::Regenerate => Outcome::Remove,
            }),
        }
    }

    /// Whether the file is the user's doing, and Landfall has a version of its own.
    fn can_be_undone(&self, outcome: Outcome) -> bool {
        self.rendered.is_some() && matches!(outcome, Outcome::KeepEdited | Outcome::KeepStale | Outcome::KeepDeleted)
    }

    fn plan(self, outcome: Outcome) -> PlannedFile {
        let moves = outcome == Outcome::Remove || outcome == Outcome::Regenerate && self.sight.is_edited();
        let backup = if moves { self.on_disk.clone() } else { None };
        let contents = match outcome {
            Outcome::KeepEdited | Outcome::KeepStale | Outcome::Adopt => self.on_disk,
            Outcome::KeepDeleted | Outcome::Remove => None,
            Outcome::Generate | Outcome::Reuse | Outcome::Refresh | Outcome::Regenerate => self.rendered,
        };
        PlannedFile {
            outcome,
            contents,
            backup,
            before: self.sight.record_before(outcome),
            after: self.sight.record_after(outcome),
        }
    }

    fn stale(self, path: String) -> Option<StaleFile> {
        let edited = self.sight.is_edited();
        Some(StaleFile { path, edited, on_disk: self.on_disk?, rendered: self.rendered })
    }
}
