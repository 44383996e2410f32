//! A stage compared with what is recorded and what lies on disk.

use std::collections::{BTreeMap, BTreeSet};

use landfall_platform::{File, FileSet};

use crate::{
    Choice, Choices, Digest, Inputs, Outcome, Plan, Rendering, Stage, StageRecord,
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
#[error("{} out of date{}", count(files.len(), stage), because(changed))]
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

fn count(files: usize, stage: &str) -> String {
    if files == 1 { format!("1 file of {stage} is") } else { format!("{files} files of {stage} are") }
}

fn because(changed: &[String]) -> String {
    if changed.is_empty() { String::new() } else { format!(", because of changes in {}", changed.join(", ")) }
}

impl Evaluation {
    /// Judges every file that is recorded, on disk or rendered.
    ///
    /// `on_disk` holds what [`WorkDir::sight`](crate::WorkDir::sight) found for the same stage, record and rendering.
    pub fn new(
        stage: Stage,
        record: Option<&StageRecord>,
        on_disk: &FileSet,
        rendering: &Rendering,
        inputs: Inputs,
    ) -> Self {
        let record = record.filter(|record| !record.is_gone(on_disk));
        let changed = record.map(|record| inputs.changed_since(&record.inputs)).unwrap_or_default();
        let circumstances =
            Circumstances { open: stage.membership.is_open(), complete: record.is_none_or(|record| record.complete) };
        let recorded = |path: &str| record.and_then(|record| record.files.get(path)).copied();
        let paths: BTreeSet<&str> = record
            .into_iter()
            .flat_map(|record| record.files.keys().map(String::as_str))
            .chain(on_disk.iter().map(|(path, _)| path))
            .chain(rendering.files().iter().map(|(path, _)| path))
            .collect();
        let judge = |path: &str| {
            let (on_disk, rendered) = (on_disk.get(path), rendering.get(path));
            let sight = Sight {
                recorded: recorded(path),
                on_disk: on_disk.map(|file| Digest::of(&file.contents)),
                rendered: rendered.map(|(_, rendered)| rendered),
            };
            let verdict = sight.judge(circumstances)?;
            let rendered = rendered.map(|(file, _)| file.clone());
            Some(Judged { sight, verdict, on_disk: on_disk.cloned(), rendered })
        };
        let files = paths.into_iter().filter_map(|path| Some((path.to_owned(), judge(path)?))).collect();
        Self { stage, inputs, changed, files }
    }

    /// What a file will be under the user's choices; nothing if it will not exist, or if it is not clear yet what it will be.
    pub fn contents(&self, path: &str, choices: &Choices) -> Option<&File> {
        let judged = self.files.get(path)?;
        let outcome = judged.outcome(choices.named(path), choices.otherwise())?;
        judged.contents(outcome)
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

impl Judged {
    /// What becomes of the file under a choice made for it by name, or one made for all stale files.
    fn outcome(&self, named: Option<Choice>, otherwise: Option<Choice>) -> Option<Outcome> {
        Some(match self.verdict {
            // What was kept though it is stale is still stale.
            Verdict::Settled(Outcome::KeepStale) => self.resolve(named.or(otherwise).unwrap_or(Choice::KeepStale)),
            Verdict::Settled(outcome) => match named {
                Some(Choice::Regenerate) if self.can_be_undone(outcome) => Outcome::Regenerate,
                _ => outcome,
            },
            Verdict::Stale => self.resolve(named.or(otherwise)?),
        })
    }

    fn resolve(&self, choice: Choice) -> Outcome {
        match choice {
            Choice::KeepStale => Outcome::KeepStale,
            Choice::Regenerate if self.rendered.is_some() => Outcome::Regenerate,
            Choice::Regenerate => Outcome::Remove,
        }
    }

    /// Whether the file is the user's doing, and Landfall has a version of its own.
    fn can_be_undone(&self, outcome: Outcome) -> bool {
        self.rendered.is_some() && matches!(outcome, Outcome::KeepEdited | Outcome::KeepDeleted)
    }

    fn plan(self, outcome: Outcome) -> PlannedFile {
        let moves = outcome == Outcome::Remove || outcome == Outcome::Regenerate && self.sight.is_edited();
        let backup = if moves { self.on_disk.clone() } else { None };
        PlannedFile {
            outcome,
            contents: self.contents(outcome).cloned(),
            backup,
            before: self.sight.record_before(outcome),
            after: self.sight.record_after(outcome),
        }
    }

    fn contents(&self, outcome: Outcome) -> Option<&File> {
        match outcome {
            Outcome::KeepEdited | Outcome::KeepStale | Outcome::Adopt => self.on_disk.as_ref(),
            Outcome::KeepDeleted | Outcome::Remove => None,
            Outcome::Generate | Outcome::Reuse | Outcome::Refresh | Outcome::Regenerate => self.rendered.as_ref(),
        }
    }

    fn stale(self, path: String) -> Option<StaleFile> {
        let edited = self.sight.is_edited();
        Some(StaleFile { path, edited, on_disk: self.on_disk?, rendered: self.rendered })
    }
}
