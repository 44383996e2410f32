//! The verdict on one file: a total function of what is recorded, what lies on disk and what was rendered anew.

use serde::Serialize;

use crate::{Digest, FileRecord, rendering::Rendered};

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is not there yet: it is written.
    Generate,
    /// It is there as it would be written.
    Reuse,
    /// It is Landfall's own, from the same inputs, but newer contents (certificates issued anew) take its place.
    Refresh,
    /// The user asked for it to be written anew.
    Regenerate,
    /// The user's version is kept and used.
    KeepEdited,
    /// It is out of date, and the user chose to keep it.
    KeepStale,
    /// The user deleted it, and it stays deleted.
    KeepDeleted,
    /// The user added it; it is used.
    Adopt,
    /// It is no longer rendered, and moves to the backup.
    Remove,
}

impl Outcome {
    /// Whether rendered contents are written.
    pub fn writes(self) -> bool {
        matches!(self, Self::Generate | Self::Refresh | Self::Regenerate)
    }
}

/// What is to be done with a file, as far as that can be said without the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is clear.
    Settled(Outcome),
    /// It would be written with another meaning now: the user has to choose.
    Stale,
}

/// One file as seen from three sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) recorded: Option<FileRecord>,
    pub(crate) on_disk: Option<Digest>,
    pub(crate) rendered: Option<Rendered>,
}

/// What holds for all files of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Circumstances {
    /// Whether the user shapes the set of files.
    pub(crate) open: bool,
    /// Whether the run that wrote the record came to its end.
    pub(crate) complete: bool,
}

impl Sight {
    /// The verdict, or `None` for a file that exists only in the record and can be forgotten.
    pub(crate) fn judge(self, circumstances: Circumstances) -> Option<Verdict> {
        let Self { recorded, on_disk, rendered } = self;
        Some(match (on_disk, rendered) {
            (None, None) => return None,
            (None, Some(_)) => Verdict::Settled(judge_absent(recorded, circumstances)),
            (Some(disk), Some(rendered)) if disk == rendered.sha256 => Verdict::Settled(Outcome::Reuse),
            (Some(disk), rendered) => judge_different(recorded, disk, rendered),
        })
    }

    /// Whether what lies on disk is the user's own work.
    pub(crate) fn is_edited(self) -> bool {
        match (self.recorded, self.on_disk) {
            (_, None) => false,
            // What was to be replaced when a run was killed had its backup by then, if it was edited.
            (Some(FileRecord::Rendered { sha256, replaces, .. }), Some(disk)) => {
                sha256 != disk && replaces != Some(disk)
            }
            (Some(FileRecord::KeptStale { sha256, edited, .. }), Some(disk)) => edited || sha256 != disk,
            (Some(FileRecord::Deleted) | None, Some(_)) => true,
        }
    }

    /// What to record of the file once the outcome has come about.
    pub(crate) fn record_after(self, outcome: Outcome) -> Option<FileRecord> {
        match outcome {
            Outcome::Generate | Outcome::Reuse | Outcome::Refresh | Outcome::Regenerate => self.as_rendered(None),
            // What the edit was made of stays recorded: only when something of another meaning is rendered is the edit
            // out of date.
            Outcome::KeepEdited => match self.recorded {
                Some(FileRecord::Rendered { sha256, meaning, .. }) => {
                    Some(FileRecord::Rendered { sha256, meaning, replaces: None })
                }
                Some(kept @ FileRecord::KeptStale { .. }) => Some(kept),
                Some(FileRecord::Deleted) | None => self.as_rendered(None),
            },
            Outcome::KeepStale => self.on_disk.map(|sha256| FileRecord::KeptStale {
                sha256,
                edited: self.is_edited(),
                declined: self.rendered.map(|rendered| rendered.meaning),
            }),
            Outcome::KeepDeleted => Some(FileRecord::Deleted),
            Outcome::Adopt | Outcome::Remove => None,
        }
    }

    /// What to record of the file before the outcome is brought about, so that a crash on the way can be told from an
    /// edit.
    pub(crate) fn record_before(self, outcome: Outcome) -> Option<FileRecord> {
        match outcome {
            Outcome::Remove => {
                self.on_disk.map(|sha256| FileRecord::Rendered { sha256, meaning: sha256, replaces: Some(sha256) })
            }
            _ if outcome.writes() => self.as_rendered(self.on_disk),
            _ => self.record_after(outcome),
        }
    }

    fn as_rendered(self, replaces: Option<Digest>) -> Option<FileRecord> {
        self.rendered.map(|Rendered { sha256, meaning }| FileRecord::Rendered { sha256, meaning, replaces })
    }
}

/// A file that is rendered but not on disk.
fn judge_absent(recorded: Option<FileRecord>, circumstances: Circumstances) -> Outcome {
    let never_written = match recorded {
        None => true,
        Some(FileRecord::Rendered { replaces, .. }) => !circumstances.complete && replaces.is_none(),
        Some(FileRecord::KeptStale { .. } | FileRecord::Deleted) => false,
    };
    if never_written || !circumstances.open { Outcome::Generate } else { Outcome::KeepDeleted }
}

/// A file on disk that is not what would be written.
fn judge_different(recorded: Option<FileRecord>, disk: Digest, rendered: Option<Rendered>) -> Verdict {
    let new_meaning = rendered.map(|rendered| rendered.meaning);
    match recorded {
        None | Some(FileRecord::Deleted) => {
            Verdict::Settled(if rendered.is_some() { Outcome::KeepEdited } else { Outcome::Adopt })
        }
        Some(FileRecord::Rendered { sha256, meaning, replaces }) => match new_meaning {
            // A crash came before what was decided on: it is made up for.
            None if replaces == Some(disk) => Verdict::Settled(Outcome::Remove),
            Some(new) if new == meaning && replaces == Some(disk) => Verdict::Settled(Outcome::Refresh),
            Some(new) if new == meaning && sha256 == disk => Verdict::Settled(Outcome::Refresh),
            Some(new) if new == meaning => Verdict::Settled(Outcome::KeepEdited),
            _ => Verdict::Stale,
        },
        Some(FileRecord::KeptStale { declined, .. }) if declined != new_meaning => Verdict::Stale,
        Some(FileRecord::KeptStale { sha256, .. }) => {
            Verdict::Settled(if sha256 == disk { Outcome::KeepStale } else { Outcome::KeepEdited })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Circumstances = Circumstances { open: true, complete: true };
    const CLOSED: Circumstances = Circumstances { open: false, ..OPEN };
    const CRASHED: Circumstances = Circumstances { complete: false, ..OPEN };

    /// The part before the colon is the meaning: `old:1` and `old:2` differ only in what is new on every run.
    fn meaning(text: &str) -> Digest {
        Digest::of(text.split(':').next().unwrap())
    }

    fn rendered(text: &str) -> FileRecord {
        FileRecord::Rendered { sha256: Digest::of(text), meaning: meaning(text), replaces: None }
    }

    fn replacing(new: &str, old: &str) -> FileRecord {
        FileRecord::Rendered { sha256: Digest::of(new), meaning: meaning(new), replaces: Some(Digest::of(old)) }
    }

    fn kept(text: &str, declined: &str) -> FileRecord {
        let declined = (!declined.is_empty()).then(|| meaning(declined));
        FileRecord::KeptStale { sha256: Digest::of(text), edited: false, declined }
    }

    #[test]
    fn what_a_killed_run_was_to_replace_is_no_edit() {
        let sight = |recorded, on_disk: &str| Sight {
            recorded: Some(recorded),
            on_disk: Some(Digest::of(on_disk)),
            rendered: None,
        };
        assert!(!sight(replacing("new", "old"), "old").is_edited());
        assert!(!sight(replacing("new", "old"), "new").is_edited());
        assert!(sight(replacing("new", "old"), "mine").is_edited());
        assert!(sight(rendered("old"), "mine").is_edited());
    }

    #[test]
    fn the_table_of_verdicts() {
        use Outcome::{Adopt, Generate, KeepDeleted, KeepEdited, KeepStale, Refresh, Remove, Reuse};
        let deleted = FileRecord::Deleted;
        let settled = |outcome| Some(Verdict::Settled(outcome));
        let stale = Some(Verdict::Stale);
        let table = [
            // recorded, on disk, rendered, circumstances, verdict
            (None, "", "new", OPEN, settled(Generate)),
            (None, "mine", "new", OPEN, settled(KeepEdited)),
            (None, "mine", "", OPEN, settled(Adopt)),
            (Some(rendered("old")), "old", "old", OPEN, settled(Reuse)),
            (Some(rendered("old:1")), "old:1", "old:2", OPEN, settled(Refresh)),
            (Some(rendered("old")), "old", "new", OPEN, stale),
            (Some(rendered("old")), "new", "new", OPEN, settled(Reuse)),
            (Some(rendered("old")), "mine", "old", OPEN, settled(KeepEdited)),
            (Some(rendered("old:1")), "mine", "old:2", OPEN, settled(KeepEdited)),
            (Some(rendered("old")), "mine", "new", OPEN, stale),
            (Some(rendered("old")), "", "old", OPEN, settled(KeepDeleted)),
            (Some(rendered("old")), "", "new", OPEN, settled(KeepDeleted)),
            (Some(rendered("old")), "", "old", CLOSED, settled(Generate)),
            (Some(rendered("old")), "", "", OPEN, None),
            (Some(rendered("old")), "old", "", OPEN, stale),
            (Some(rendered("old")), "mine", "", OPEN, stale),
            (Some(deleted), "", "new", OPEN, settled(KeepDeleted)),
            (Some(deleted), "", "new", CLOSED, settled(Generate)),
            (Some(deleted), "mine", "new", OPEN, settled(KeepEdited)),
            (Some(deleted), "mine", "", OPEN, settled(Adopt)),
            (Some(deleted), "", "", OPEN, None),
            (Some(kept("old", "new")), "old", "new", OPEN, settled(KeepStale)),
            (Some(kept("old", "new:1")), "old", "new:2", OPEN, settled(KeepStale)),
            (Some(kept("old", "new")), "old", "newer", OPEN, stale),
            (Some(kept("old", "new")), "old", "old", OPEN, settled(Reuse)),
            (Some(kept("old", "new")), "mine", "new", OPEN, settled(KeepEdited)),
            (Some(kept("old", "new")), "mine", "newer", OPEN, stale),
            (Some(kept("old", "")), "old", "", OPEN, settled(KeepStale)),
            (Some(kept("old", "new")), "old", "", OPEN, stale),
            (Some(kept("old", "new")), "", "new", OPEN, settled(KeepDeleted)),
            // after a crash
            (Some(rendered("new")), "", "new:2", CRASHED, settled(Generate)),
            (Some(replacing("new:1", "old")), "old", "new:2", CRASHED, settled(Refresh)),
            (Some(replacing("new:1", "old")), "new:1", "new:2", CRASHED, settled(Refresh)),
            (Some(replacing("new:1", "mine")), "mine", "new:2", CRASHED, settled(Refresh)),
            (Some(replacing("new:1", "old")), "later edit", "new:2", CRASHED, settled(KeepEdited)),
            (Some(replacing("new:1", "old")), "old", "newer", CRASHED, stale),
            (Some(replacing("new:1", "old")), "", "new:2", CRASHED, settled(KeepDeleted)),
            (Some(replacing("old", "old")), "old", "", CRASHED, settled(Remove)),
        ];
        for (recorded, on_disk, new, circumstances, verdict) in table {
            let rendered = |text: &str| Rendered { sha256: Digest::of(text), meaning: meaning(text) };
            let sight = Sight {
                recorded,
                on_disk: (!on_disk.is_empty()).then(|| Digest::of(on_disk)),
                rendered: (!new.is_empty()).then(|| rendered(new)),
            };
            assert_eq!(sight.judge(circumstances), verdict, "{recorded:?} '{on_disk}' '{new}' {circumstances:?}");
        }
    }
}
