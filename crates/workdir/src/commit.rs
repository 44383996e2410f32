//! Carrying out a transaction, operation by operation.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use landfall_platform::File;

use crate::{Error, Result, disk::Disk, names};

/// What there is to do, with paths relative to the install directory.
pub(crate) struct Job<'a> {
    pub(crate) root: &'a Path,
    /// The record before the first file is replaced, if it changes.
    pub(crate) before: Option<File>,
    /// The record after the last one is.
    pub(crate) after: Option<File>,
    pub(crate) writes: Vec<(String, File)>,
    pub(crate) removals: Vec<String>,
    pub(crate) backups: Vec<(String, File)>,
}

/// Prepares everything, then puts it in place. See [`Transaction`](crate::Transaction) for what holds after a crash.
pub(crate) fn commit(disk: &dyn Disk, job: &Job<'_>) -> Result<()> {
    sweep(disk, job)?;
    let mut prepared = Prepared { disk, job, directories: Vec::new(), files: Vec::new() };
    if let Err(error) = prepared.prepare() {
        prepared.undo();
        return Err(error);
    }
    prepared.put_in_place().inspect_err(|_| prepared.tidy())
}

struct Prepared<'a> {
    disk: &'a dyn Disk,
    job: &'a Job<'a>,
    /// Directories that did not exist before, outermost first.
    directories: Vec<PathBuf>,
    /// Files that did not exist before: temporary ones and backups.
    files: Vec<PathBuf>,
}

impl Prepared<'_> {
    /// Makes directories, backups and temporary files, and waits until they are safe.
    fn prepare(&mut self) -> Result<()> {
        let job = self.job;
        for path in job.directories() {
            self.make_directory(&path)?;
        }
        for (path, file) in &job.backups {
            self.write_new(job.root.join(path), path, file)?;
        }
        for (path, file) in &job.writes {
            self.write_new(job.temporary(path), path, file)?;
        }
        for (moment, record) in job.records() {
            self.write_new(job.temporary_record(moment), names::RECORD, record)?;
        }
        let mut unsafe_yet = self.files.clone();
        unsafe_yet.extend(self.directories.iter().filter_map(|path| path.parent()).map(Path::to_owned));
        unsafe_yet.extend(job.backups.iter().filter_map(|(path, _)| job.root.join(path).parent().map(Path::to_owned)));
        unsafe_yet.dedup();
        self.sync(&unsafe_yet)
    }

    fn put_in_place(&mut self) -> Result<()> {
        let job = self.job;
        if job.before.is_some() {
            if let Err(error) = self.rename(&job.temporary_record(Moment::Before), names::RECORD) {
                self.undo();
                return Err(error);
            }
            self.sync(&[job.root.join(names::STATE_DIRECTORY)])?;
        }
        for (path, _) in &job.writes {
            self.rename(&job.temporary(path), path)?;
        }
        for path in &job.removals {
            self.remove(&job.root.join(path))?;
        }
        let touched: BTreeSet<PathBuf> = job.touched().map(|path| parent(&job.root.join(path))).collect();
        self.sync(&touched.into_iter().collect::<Vec<_>>())?;
        if job.after.is_some() {
            self.rename(&job.temporary_record(Moment::After), names::RECORD)?;
            self.sync(&[job.root.join(names::STATE_DIRECTORY)])?;
        }
        Ok(())
    }

    /// Takes back everything that `prepare` did. What cannot be taken back is swept up by the next run.
    fn undo(&self) {
        for file in &self.files {
            let _swept_later = self.disk.remove_file(file);
        }
        for directory in self.directories.iter().rev() {
            let _stays_empty = self.disk.remove_directory(directory);
        }
    }

    /// Removes temporary files that did not find their place.
    fn tidy(&self) {
        for file in self.files.iter().filter(|file| is_temporary(file)) {
            let _swept_later = self.disk.remove_file(file);
        }
    }

    fn make_directory(&mut self, relative: &str) -> Result<()> {
        let path = self.job.root.join(relative);
        if path.is_dir() {
            return Ok(());
        }
        let made = self.disk.make_directory(&path, names::is_private_directory(relative));
        made.map_err(|source| Error::Write { path: path.clone(), source })?;
        self.directories.push(path);
        Ok(())
    }

    /// An error names the file that the user knows, not the one it is prepared in.
    fn write_new(&mut self, path: PathBuf, destination: &str, file: &File) -> Result<()> {
        let written = self.disk.write_new(&path, file);
        // Also after a failure: a write that was cut short leaves a file too.
        self.files.push(path);
        written.map_err(|source| Error::Write { path: self.job.root.join(destination), source })
    }

    fn rename(&self, from: &Path, to: &str) -> Result<()> {
        let to = self.job.root.join(to);
        self.disk.rename(from, &to).map_err(|source| Error::Write { path: to, source })
    }

    fn remove(&self, path: &Path) -> Result<()> {
        match self.disk.remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(|source| Error::Write { path: path.to_owned(), source }),
        }
    }

    fn sync(&self, paths: &[PathBuf]) -> Result<()> {
        self.disk.sync(paths).map_err(|source| Error::Write { path: self.job.root.to_owned(), source })
    }
}

/// Which of the two records.
#[derive(Clone, Copy)]
enum Moment {
    Before,
    After,
}

impl Job<'_> {
    /// Directories of everything that is written, outermost first.
    fn directories(&self) -> BTreeSet<String> {
        let files = self.writes.iter().chain(&self.backups).map(|(path, _)| path.as_str());
        let mut directories = BTreeSet::from([names::STATE_DIRECTORY.to_owned()]);
        for path in files {
            directories.extend(path.match_indices('/').map(|(end, _)| path[..end].to_owned()));
        }
        directories
    }

    fn records(&self) -> impl Iterator<Item = (Moment, &File)> {
        let both = [(Moment::Before, &self.before), (Moment::After, &self.after)];
        both.into_iter().filter_map(|(moment, record)| Some((moment, record.as_ref()?)))
    }

    /// Paths of everything that changes.
    fn touched(&self) -> impl Iterator<Item = &str> {
        self.writes.iter().map(|(path, _)| path.as_str()).chain(self.removals.iter().map(String::as_str))
    }

    /// Where a file waits until it is put in place: in the same directory, so on the same file system.
    fn temporary(&self, path: &str) -> PathBuf {
        let path = self.root.join(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        path.with_file_name(format!("{}{name}.tmp", names::TEMPORARY_PREFIX))
    }

    fn temporary_record(&self, moment: Moment) -> PathBuf {
        let when = match moment {
            Moment::Before => "before",
            Moment::After => "after",
        };
        self.temporary(&format!("{}-{when}", names::RECORD))
    }
}

/// Removes temporary files that an earlier run left behind when it was killed. The lock guarantees that it has ended.
fn sweep(disk: &dyn Disk, job: &Job<'_>) -> Result<()> {
    let mut directories: BTreeSet<PathBuf> = job.directories().iter().map(|path| job.root.join(path)).collect();
    directories.insert(job.root.to_owned());
    for directory in directories.iter().filter(|directory| directory.is_dir()) {
        let failed = |source| Error::Read { path: directory.clone(), source };
        for entry in std::fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if is_temporary(&path) {
                disk.remove_file(&path).map_err(|source| Error::Write { path, source })?;
            }
        }
    }
    Ok(())
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(names::TEMPORARY_PREFIX.as_bytes()))
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}
