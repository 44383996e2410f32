//! Where a stage stands, as far as that can be told without rendering it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use landfall_platform::FileSet;
use serde::Serialize;

use crate::{Digest, FileRecord, Inputs, StageRecord};

/// Where a stage stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// When its files were last written.
    pub written_at: Timestamp,
    /// By which version of Landfall.
    pub written_by: String,
    /// Whether the run that wrote them came to its end.
    pub complete: bool,
    /// Inputs that have changed since.
    pub changed_inputs: Vec<String>,
    /// The condition of each file.
    pub files: BTreeMap<String, Condition>,
}

/// The condition of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// As Landfall wrote it.
    Unchanged,
    /// The user changed it.
    Edited,
    /// The user chose to keep it although it is out of date.
    KeptStale,
    /// The user deleted it.
    Deleted,
    /// The user added it.
    Adopted,
}

impl Standing {
    /// Compares what is recorded with what lies on disk. Without `inputs` nothing is said about them.
    pub fn new(record: &StageRecord, on_disk: &FileSet, inputs: Option<&Inputs>) -> Self {
        let recorded = record.files.iter().map(|(path, file)| {
            let digest = on_disk.get(path).map(|file| Digest::of(&file.contents));
            (path.clone(), condition(*file, digest))
        });
        let added = on_disk.iter().filter(|(path, _)| !record.files.contains_key(*path));
        Self {
            written_at: record.written_at,
            written_by: record.written_by.clone(),
            complete: record.complete,
            changed_inputs: inputs.map(|inputs| inputs.changed_since(&record.inputs)).unwrap_or_default(),
            files: recorded.chain(added.map(|(path, _)| (path.to_owned(), Condition::Adopted))).collect(),
        }
    }
}

fn condition(recorded: FileRecord, on_disk: Option<Digest>) -> Condition {
    match (recorded, on_disk) {
        (_, None) => Condition::Deleted,
        (FileRecord::Rendered { sha256, .. }, Some(disk)) if sha256 == disk => Condition::Unchanged,
        (FileRecord::KeptStale { sha256 }, Some(disk)) if sha256 == disk => Condition::KeptStale,
        (FileRecord::Rendered { .. } | FileRecord::KeptStale { .. } | FileRecord::Deleted, Some(_)) => {
            Condition::Edited
        }
    }
}
