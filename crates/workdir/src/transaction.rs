//! Everything that one run writes, as one unit.

use std::path::PathBuf;

use jiff::{Timestamp, tz::TimeZone};
use landfall_platform::File;

use crate::{
    FileRecord, Identity, Locked, Outcome, Plan, Record, Result, StageRecord,
    commit::{Job, commit},
    disk::{Disk, Os},
    names,
    plan::PlannedFile,
};

/// Everything that one run writes. It is put together first and then committed:
///
/// 1. All new contents, and copies of edited files that are to be replaced, are written beside what is there. Whatever
///    fails here (a full disk, most often) is undone, and the directory is as it was.
/// 2. The record says what is about to be replaced.
/// 3. Each file is renamed into place.
/// 4. The record says that the run came to its end.
///
/// After a crash before 2 nothing has happened; after it, the next run finds in the record which files are still to be
/// replaced, and does so.
#[derive(Debug)]
pub struct Transaction<'a> {
    locked: &'a Locked,
    now: Timestamp,
    written_by: String,
    recorded: Record,
    before: Record,
    after: Record,
    writes: Vec<(String, File)>,
    removals: Vec<String>,
    backups: Vec<(String, File)>,
}

/// What a commit did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// Whether anything was written.
    pub changed: bool,
    /// The directory that now holds copies of replaced or removed files, relative to the install directory.
    pub backup: Option<String>,
}

impl<'a> Transaction<'a> {
    /// Begins with what is recorded now. `written_by` is Landfall's version.
    pub fn begin(locked: &'a Locked, now: Timestamp, written_by: impl Into<String>) -> Result<Self> {
        let recorded = locked.dir().record()?;
        Ok(Self {
            locked,
            now,
            written_by: written_by.into(),
            before: recorded.clone(),
            after: recorded.clone(),
            recorded,
            writes: Vec::new(),
            removals: Vec::new(),
            backups: Vec::new(),
        })
    }

    /// Writes a file that belongs to no stage. It is in place before any file of a stage is.
    pub fn write(&mut self, path: impl Into<String>, file: File) {
        self.writes.push((path.into(), file));
    }

    /// Puts down who the cluster is.
    pub fn identify(&mut self, identity: &Identity) {
        self.write(names::IDENTITY, identity.render());
    }

    /// Puts a copy of a file's present contents into the backup.
    pub fn back_up(&mut self, path: impl Into<String>, file: File) {
        self.backups.push((path.into(), file));
    }

    /// Carries out the plan of a stage.
    pub fn stage(&mut self, plan: &Plan) {
        for (path, file) in &plan.files {
            if let Some(contents) = &file.backup {
                self.back_up(path, contents.clone());
            }
            match (&file.contents, file.outcome) {
                (Some(contents), outcome) if outcome.writes() => self.write(path, contents.clone()),
                (_, Outcome::Remove) => self.removals.push(path.clone()),
                _ => {}
            }
        }
        let name = plan.stage.name;
        let after = self.record(plan, true, |file| file.after);
        let unchanged = self.recorded.stage(name).is_some_and(|recorded| {
            recorded.complete && recorded.inputs == after.inputs && recorded.files == after.files
        });
        if !unchanged {
            self.before.put(name, self.record(plan, false, |file| file.before));
            self.after.put(name, after);
        }
    }

    /// Writes everything.
    pub fn commit(self) -> Result<Committed> {
        self.commit_on(&Os)
    }

    pub(crate) fn commit_on(self, disk: &dyn Disk) -> Result<Committed> {
        if self.writes.is_empty() && self.removals.is_empty() && self.backups.is_empty() && self.after == self.recorded
        {
            return Ok(Committed::default());
        }
        let backup = (!self.backups.is_empty()).then(|| self.backup_directory());
        commit(
            disk,
            &Job {
                root: self.locked.dir().root(),
                before: (self.before != self.recorded).then(|| record_file(&self.before)),
                after: (self.after != self.recorded).then(|| record_file(&self.after)),
                writes: self.writes,
                removals: self.removals,
                backups: backup.iter().flat_map(|directory| below(directory, &self.backups)).collect(),
            },
        )?;
        Ok(Committed { changed: true, backup })
    }

    fn record(&self, plan: &Plan, complete: bool, of: impl Fn(&PlannedFile) -> Option<FileRecord>) -> StageRecord {
        let files = plan.files.iter().filter_map(|(path, file)| Some((path.clone(), of(file)?)));
        StageRecord {
            inputs: plan.inputs.clone(),
            written_at: self.now,
            written_by: self.written_by.clone(),
            complete,
            files: files.collect(),
        }
    }

    /// A directory for the backups of this run, which does not exist yet.
    fn backup_directory(&self) -> String {
        let time = self.now.to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string();
        let candidates = (1..).map(|n| if n == 1 { time.clone() } else { format!("{time}-{n}") });
        let mut directories = candidates.map(|name| format!("{}/{name}", names::BACKUPS));
        let free = |directory: &String| {
            let path: PathBuf = self.locked.dir().path(directory);
            !path.exists()
        };
        directories.find(free).expect("there are more numbers than directories")
    }
}

fn record_file(record: &Record) -> File {
    File::public(record.render())
}

fn below(directory: &str, files: &[(String, File)]) -> Vec<(String, File)> {
    files.iter().map(|(path, file)| (format!("{directory}/{path}"), file.clone())).collect()
}
