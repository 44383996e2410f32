//! The record of what Landfall wrote: `.landfall/stages.json`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use landfall_platform::FileSet;
use serde::{Deserialize, Serialize};

use crate::{Digest, Error, Inputs, Result, names};

const FORMAT: u32 = 1;

/// What Landfall wrote into an install directory, by stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    stages: BTreeMap<String, StageRecord>,
}

/// What Landfall wrote for one stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StageRecord {
    /// What the files were derived from.
    pub inputs: Inputs,
    /// When they were last written.
    pub written_at: Timestamp,
    /// The version of Landfall that wrote them.
    pub written_by: String,
    /// Whether the run came to its end. If not, some files are still as they were before it.
    pub complete: bool,
    /// The files by their path.
    pub files: BTreeMap<String, FileRecord>,
}

/// What is known of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "state", deny_unknown_fields)]
pub enum FileRecord {
    /// Landfall rendered it; what lies on disk is either that, or an edit of it.
    Rendered {
        /// What was rendered.
        sha256: Digest,
        /// What it means, see [`Rendering`](crate::Rendering).
        meaning: Digest,
        /// What it was about to take the place of when it was written: after a crash this may still lie there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<Digest>,
    },
    /// The user chose to keep what was there although it was out of date.
    KeptStale {
        /// What lay on disk then.
        sha256: Digest,
        /// Whether that was the user's own work.
        edited: bool,
        /// The meaning of what would have taken its place; nothing if it was no longer part of the stage.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        declined: Option<Digest>,
    },
    /// The user deleted it.
    Deleted,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: u32,
    stages: BTreeMap<String, StageRecord>,
}

/// The part of the document that every format shares.
#[derive(Deserialize)]
struct Header {
    format: u32,
}

impl Record {
    /// Reads a record. One that is damaged or from another version is an error, never an empty record: then every
    /// edit would look like Landfall's own work.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let damaged = |source: serde_json::Error| Error::RecordDamaged { why: source.to_string() };
        let header: Header = serde_json::from_slice(bytes).map_err(damaged)?;
        if header.format != FORMAT {
            return Err(Error::RecordFormat { found: header.format, known: FORMAT });
        }
        let document: Document = serde_json::from_slice(bytes).map_err(damaged)?;
        for path in document.stages.values().flat_map(|stage| stage.files.keys()) {
            if !names::is_inside(path) {
                return Err(Error::RecordDamaged {
                    why: format!("'{path}' is not a path inside the install directory"),
                });
            }
        }
        Ok(Self { stages: document.stages })
    }

    /// The record as it is stored.
    pub(crate) fn render(&self) -> Vec<u8> {
        let document = Document { format: FORMAT, stages: self.stages.clone() };
        let mut bytes = serde_json::to_vec_pretty(&document).expect("a record is plain data with text keys");
        bytes.push(b'\n');
        bytes
    }

    /// What is recorded of a stage.
    pub fn stage(&self, name: &str) -> Option<&StageRecord> {
        self.stages.get(name)
    }

    /// Whether any stage has been written to its end.
    pub fn has_complete_stage(&self) -> bool {
        self.stages.values().any(|stage| stage.complete)
    }

    /// Puts down a stage, in the place of what was recorded of it.
    pub(crate) fn put(&mut self, name: &str, stage: StageRecord) {
        self.stages.insert(name.to_owned(), stage);
    }
}

impl StageRecord {
    /// Whether all of the stage's files are gone: then the user wants it made from scratch, not kept empty. If it was known
    /// already that they are deleted, they stay so.
    pub(crate) fn is_gone(&self, on_disk: &FileSet) -> bool {
        let known = !self.files.is_empty() && self.files.values().all(|file| matches!(file, FileRecord::Deleted));
        !known && self.files.keys().all(|path| on_disk.get(path).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(contents: &str, replaces: Option<&str>) -> FileRecord {
        let sha256 = Digest::of(contents);
        FileRecord::Rendered { sha256, meaning: sha256, replaces: replaces.map(Digest::of) }
    }

    fn record() -> Record {
        let mut record = Record::default();
        let files = [
            ("manifests/a.yaml", rendered("a", None)),
            ("manifests/b.yaml", rendered("b", Some("c"))),
            ("manifests/c.yaml", FileRecord::KeptStale { sha256: Digest::of("c"), edited: true, declined: None }),
            ("manifests/d.yaml", FileRecord::Deleted),
        ];
        record.put(
            "manifests",
            StageRecord {
                inputs: Inputs::default().with("install-config.yaml", Digest::of("config")),
                written_at: Timestamp::UNIX_EPOCH,
                written_by: "0.1.0".to_owned(),
                complete: true,
                files: files.into_iter().map(|(path, file)| (path.to_owned(), file)).collect(),
            },
        );
        record
    }

    #[test]
    fn is_read_back_as_it_was_written() {
        assert_eq!(Record::parse(&record().render()).unwrap(), record());
    }

    #[test]
    fn every_cut_is_noticed() {
        let bytes = record().render();
        for length in 0..bytes.len() - 2 {
            let error = Record::parse(&bytes[..length]).unwrap_err();
            assert!(matches!(error, Error::RecordDamaged { .. }), "cut at {length}: {error}");
        }
    }

    #[test]
    fn a_later_format_is_not_guessed_at() {
        let error = Record::parse(br#"{"format": 2, "phases": {}}"#).unwrap_err();
        assert!(matches!(error, Error::RecordFormat { found: 2, known: 1 }), "{error}");
    }

    #[test]
    fn paths_that_lead_outside_are_damage() {
        let text = String::from_utf8(record().render()).unwrap().replace("manifests/a.yaml", "../../etc/passwd");
        assert!(matches!(Record::parse(text.as_bytes()), Err(Error::RecordDamaged { .. })));
    }
}
