//! A stage about which every question is answered.

use std::collections::BTreeMap;

use landfall_platform::{File, FileSet};

use crate::{FileRecord, Inputs, Outcome, Stage};

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
