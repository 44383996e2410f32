//! The record of what Landfall wrote: `.landfall/stages.json`.

use std::collections::BTreeMap;

use jiff::Timestamp;
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
        /// What it was about to take the place of when it was written: after a crash this may still lie there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<Digest>,
    },
    /// The user chose to keep what was there although its inputs changed.
    KeptStale {
        /// What lay on disk then.
        sha256: Digest,
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

    /// Puts down a stage, in the place of what was recorded of it.
    pub(crate) fn put(&mut self, name: &str, stage: StageRecord) {
        self.stages.insert(name.to_owned(), stage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let mut record = Record::default();
        let files = [
            ("manifests/a.yaml", FileRecord::Rendered { sha256: Digest::of("a"), replaces: None }),
            ("manifests/b.yaml", FileRecord::Rendered { sha256: Digest::of("b"), replaces: Some(Digest::of("c")) }),
            ("manifests/c.yaml", FileRecord::KeptStale { sha256: Digest::of("c") }),
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
