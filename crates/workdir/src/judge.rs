//! The verdict on one file: a total function of what is recorded, what lies on disk and what was rendered anew.

use serde::Serialize;

use crate::{Digest, FileRecord};

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
    /// It was derived from inputs that have changed since: the user has to choose.
    Stale,
}

/// One file as seen from three sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) recorded: Option<FileRecord>,
    pub(crate) on_disk: Option<Digest>,
    pub(crate) rendered: Option<Digest>,
}

/// What holds for all files of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Circumstances {
    /// Whether the user shapes the set of files.
    pub(crate) open: bool,
    /// Whether the run that wrote the record came to its end.
    pub(crate) complete: bool,
    /// Whether the stage's inputs differ from the recorded ones.
    pub(crate) inputs_changed: bool,
}

impl Sight {
    /// The verdict, or `None` for a file that exists only in the record and can be forgotten.
    pub(crate) fn judge(self, circumstances: Circumstances) -> Option<Verdict> {
        let Self { recorded, on_disk, rendered } = self;
        Some(match (on_disk, rendered) {
            (None, None) => return None,
            (None, Some(_)) => Verdict::Settled(judge_absent(recorded, circumstances)),
            (Some(disk), Some(rendered)) if disk == rendered => Verdict::Settled(Outcome::Reuse),
            (Some(disk), rendered) => judge_different(recorded, disk, rendered, circumstances.inputs_changed),
        })
    }

    /// Whether what lies on disk is anything but Landfall's own rendering.
    pub(crate) fn is_edited(self) -> bool {
        match (self.recorded, self.on_disk) {
            (_, None) => false,
            (Some(FileRecord::Rendered { sha256, .. }), Some(disk)) => sha256 != disk,
            (Some(FileRecord::KeptStale { .. } | FileRecord::Deleted) | None, Some(_)) => true,
        }
    }

    /// What to record of the file once the outcome has come about.
    pub(crate) fn record_after(self, outcome: Outcome) -> Option<FileRecord> {
        let as_rendered = self.rendered.map(|sha256| FileRecord::Rendered { sha256, replaces: None });
        match outcome {
            Outcome::Generate | Outcome::Reuse | Outcome::Refresh | Outcome::Regenerate => as_rendered,
            // The base of the edit stays recorded: only when a rendering differs from *it* is the edit out of date.
            Outcome::KeepEdited => match self.recorded {
                Some(FileRecord::Rendered { sha256, .. }) => Some(FileRecord::Rendered { sha256, replaces: None }),
                Some(kept @ FileRecord::KeptStale { .. }) => Some(kept),
                Some(FileRecord::Deleted) | None => as_rendered,
            },
            Outcome::KeepStale => self.on_disk.map(|sha256| FileRecord::KeptStale { sha256 }),
            Outcome::KeepDeleted => Some(FileRecord::Deleted),
            Outcome::Adopt | Outcome::Remove => None,
        }
    }

    /// What to record of the file before the outcome is brought about, so that a crash on the way can be told from an
    /// edit.
    pub(crate) fn record_before(self, outcome: Outcome) -> Option<FileRecord> {
        match (outcome, self.recorded) {
            (Outcome::Remove, Some(FileRecord::Rendered { sha256, .. } | FileRecord::KeptStale { sha256 })) => {
                Some(FileRecord::Rendered { sha256, replaces: self.on_disk })
            }
            _ if outcome.writes() => {
                self.rendered.map(|sha256| FileRecord::Rendered { sha256, replaces: self.on_disk })
            }
            _ => self.record_after(outcome),
        }
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
fn judge_different(
    recorded: Option<FileRecord>,
    disk: Digest,
    rendered: Option<Digest>,
    inputs_changed: bool,
) -> Verdict {
    let own = if rendered.is_some() { Outcome::KeepEdited } else { Outcome::Adopt };
    match recorded {
        None | Some(FileRecord::Deleted) => Verdict::Settled(own),
        // A crash came before the replacement that was decided on: it is made up for.
        Some(FileRecord::Rendered { replaces: Some(replaced), .. }) if replaced == disk && !inputs_changed => {
            Verdict::Settled(if rendered.is_some() { Outcome::Refresh } else { Outcome::Remove })
        }
        Some(FileRecord::Rendered { sha256: base, .. }) => {
            let edited = disk != base;
            match rendered {
                Some(_) if !edited && !inputs_changed => Verdict::Settled(Outcome::Refresh),
                Some(rendered) if edited && (!inputs_changed || rendered == base) => {
                    Verdict::Settled(Outcome::KeepEdited)
                }
                _ => Verdict::Stale,
            }
        }
        Some(FileRecord::KeptStale { .. }) if inputs_changed => Verdict::Stale,
        Some(FileRecord::KeptStale { sha256 }) if sha256 == disk => Verdict::Settled(Outcome::KeepStale),
        Some(FileRecord::KeptStale { .. }) => Verdict::Settled(Outcome::KeepEdited),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME: Circumstances = Circumstances { open: true, complete: true, inputs_changed: false };
    const CHANGED: Circumstances = Circumstances { inputs_changed: true, ..SAME };
    const CLOSED: Circumstances = Circumstances { open: false, ..SAME };
    const CRASHED: Circumstances = Circumstances { complete: false, ..SAME };

    fn digest(text: &str) -> Option<Digest> {
        (!text.is_empty()).then(|| Digest::of(text))
    }

    fn rendered(base: &str) -> FileRecord {
        FileRecord::Rendered { sha256: Digest::of(base), replaces: None }
    }

    fn replacing(new: &str, old: &str) -> FileRecord {
        FileRecord::Rendered { sha256: Digest::of(new), replaces: Some(Digest::of(old)) }
    }

    fn kept(text: &str) -> FileRecord {
        FileRecord::KeptStale { sha256: Digest::of(text) }
    }

    #[test]
    fn the_table_of_verdicts() {
        use Outcome::{Adopt, Generate, KeepDeleted, KeepEdited, KeepStale, Refresh, Remove, Reuse};
        let settled = |outcome| Some(Verdict::Settled(outcome));
        let stale = Some(Verdict::Stale);
        let table = [
            // recorded, on disk, rendered, circumstances, verdict
            (None, "", "new", SAME, settled(Generate)),
            (None, "mine", "new", SAME, settled(KeepEdited)),
            (None, "mine", "new", CHANGED, settled(KeepEdited)),
            (None, "mine", "", SAME, settled(Adopt)),
            (Some(rendered("old")), "old", "old", SAME, settled(Reuse)),
            (Some(rendered("old")), "old", "new", SAME, settled(Refresh)),
            (Some(rendered("old")), "old", "new", CHANGED, stale),
            (Some(rendered("old")), "new", "new", CHANGED, settled(Reuse)),
            (Some(rendered("old")), "mine", "old", SAME, settled(KeepEdited)),
            (Some(rendered("old")), "mine", "new", SAME, settled(KeepEdited)),
            (Some(rendered("old")), "mine", "old", CHANGED, settled(KeepEdited)),
            (Some(rendered("old")), "mine", "new", CHANGED, stale),
            (Some(rendered("old")), "", "old", SAME, settled(KeepDeleted)),
            (Some(rendered("old")), "", "new", CHANGED, settled(KeepDeleted)),
            (Some(rendered("old")), "", "old", CLOSED, settled(Generate)),
            (Some(rendered("old")), "", "", CHANGED, None),
            (Some(rendered("old")), "old", "", CHANGED, stale),
            (Some(rendered("old")), "mine", "", CHANGED, stale),
            (Some(FileRecord::Deleted), "", "new", CHANGED, settled(KeepDeleted)),
            (Some(FileRecord::Deleted), "", "new", CLOSED, settled(Generate)),
            (Some(FileRecord::Deleted), "mine", "new", SAME, settled(KeepEdited)),
            (Some(FileRecord::Deleted), "mine", "", SAME, settled(Adopt)),
            (Some(FileRecord::Deleted), "", "", SAME, None),
            (Some(kept("old")), "old", "new", SAME, settled(KeepStale)),
            (Some(kept("old")), "old", "newer", CHANGED, stale),
            (Some(kept("old")), "mine", "new", SAME, settled(KeepEdited)),
            (Some(kept("old")), "mine", "newer", CHANGED, stale),
            (Some(kept("old")), "old", "", SAME, settled(KeepStale)),
            (Some(kept("old")), "", "new", SAME, settled(KeepDeleted)),
            // after a crash
            (Some(rendered("new")), "", "newer", CRASHED, settled(Generate)),
            (Some(replacing("new", "old")), "old", "newer", CRASHED, settled(Refresh)),
            (Some(replacing("new", "old")), "new", "newer", CRASHED, settled(Refresh)),
            (Some(replacing("new", "mine")), "mine", "newer", CRASHED, settled(Refresh)),
            (Some(replacing("new", "old")), "later edit", "newer", CRASHED, settled(KeepEdited)),
            (Some(replacing("new", "old")), "", "newer", CRASHED, settled(KeepDeleted)),
            (Some(replacing("old", "old")), "old", "", CRASHED, settled(Remove)),
        ];
        for (recorded, on_disk, new, circumstances, verdict) in table {
            let sight = Sight { recorded, on_disk: digest(on_disk), rendered: digest(new) };
            assert_eq!(sight.judge(circumstances), verdict, "{recorded:?} '{on_disk}' '{new}' {circumstances:?}");
        }
    }
}
