//! A stage about which every question is answered.

use std::collections::BTreeMap;

use landfall_platform::{File, FileSet};

use crate::{Condition, FileRecord, Inputs, Outcome, Stage, StageRecord, Standing};

/// What to do with a file that is out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Write it anew; if it was edited, a copy goes to the backup first.
    Regenerate,
    /// Use it as it is.
    KeepStale,
}

/// The user's choices for files that are out of date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    otherwise: Option<Choice>,
    files: BTreeMap<String, Choice>,
}

impl Choices {
    /// One choice for all stale files.
    pub fn for_all(choice: Choice) -> Self {
        Self { otherwise: Some(choice), files: BTreeMap::new() }
    }

    /// A choice for one file, before any that holds for all. `Regenerate` also undoes an edit or a deletion of it.
    #[must_use]
    pub fn with(mut self, path: impl Into<String>, choice: Choice) -> Self {
        self.files.insert(path.into(), choice);
        self
    }

    /// The files that were named.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(crate) fn named(&self, path: &str) -> Option<Choice> {
        self.files.get(path).copied()
    }

    pub(crate) fn otherwise(&self) -> Option<Choice> {
        self.otherwise
    }
}

/// A stage that is ready to be written. Only [`Evaluation::settle`](crate::Evaluation::settle) makes one.
#[derive(Debug)]
pub struct Plan {
    pub(crate) stage: Stage,
    pub(crate) inputs: Inputs,
    pub(crate) files: BTreeMap<String, PlannedFile>,
}

#[derive(Debug)]
pub(crate) struct PlannedFile {
    pub(crate) outcome: Outcome,
    /// What later stages use; nothing for a file that is deleted.
    pub(crate) contents: Option<File>,
    /// What goes to the backup first.
    pub(crate) backup: Option<File>,
    /// What is recorded before and after the file is written.
    pub(crate) before: Option<FileRecord>,
    pub(crate) after: Option<FileRecord>,
}

impl Plan {
    /// The plan for a stage that need not be rendered again, because it is complete and its inputs are the same: all
    /// stays as it is. `None` if that is not so, or if the user chose something for one of its files.
    pub fn keep(
        stage: Stage,
        record: Option<&StageRecord>,
        on_disk: &FileSet,
        inputs: &Inputs,
        choices: &Choices,
    ) -> Option<Self> {
        let record = record.filter(|record| record.complete && record.inputs == *inputs)?;
        let standing = Standing::new(record, on_disk, Some(inputs));
        let all_there = standing.files.values().all(|condition| *condition != Condition::Deleted);
        if record.is_gone(on_disk) || !stage.membership.is_open() && !all_there {
            return None;
        }
        let keep = |(path, condition): (String, Condition)| {
            let recorded = record.files.get(&path).copied();
            let (outcome, record) = match condition {
                Condition::Unchanged => (Outcome::Reuse, recorded),
                Condition::Edited => (Outcome::KeepEdited, recorded),
                Condition::KeptStale => (Outcome::KeepStale, recorded),
                Condition::Deleted => (Outcome::KeepDeleted, Some(FileRecord::Deleted)),
                Condition::Adopted => (Outcome::Adopt, None),
            };
            let contents = on_disk.get(&path).cloned();
            (path, PlannedFile { outcome, contents, backup: None, before: record, after: record })
        };
        let plan = Self { stage, inputs: inputs.clone(), files: standing.files.into_iter().map(keep).collect() };
        let asked_for = |(path, outcome): (&str, Outcome)| {
            let outdated = outcome == Outcome::KeepStale;
            choices.named(path).is_some() || outdated && choices.otherwise == Some(Choice::Regenerate)
        };
        let untouched = !plan.outcomes().any(asked_for);
        untouched.then_some(plan)
    }

    /// The plan for a stage whose files were handed out to machines: nothing is written, and nothing recorded.
    pub(crate) fn frozen(stage: Stage, files: &FileSet) -> Self {
        let planned = |(path, file): (&str, &File)| {
            let contents = Some(file.clone());
            (
                path.to_owned(),
                PlannedFile { outcome: Outcome::Reuse, contents, backup: None, before: None, after: None },
            )
        };
        Self { stage, inputs: Inputs::default(), files: files.iter().map(planned).collect() }
    }

    /// The stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// What becomes of each file.
    pub fn outcomes(&self) -> impl Iterator<Item = (&str, Outcome)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file.outcome))
    }

    /// Whether Landfall renders a file, so that it could be written anew.
    pub fn renders(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(|file| file.outcome != Outcome::Adopt)
    }

    /// The files as they will be, edits and additions included: what later stages are derived from.
    pub fn effective(&self) -> FileSet {
        let present = self.files.iter().filter_map(|(path, file)| Some((path.clone(), file.contents.clone()?)));
        present.collect()
    }
}
