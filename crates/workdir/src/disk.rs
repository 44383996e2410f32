//! The few operations from which a transaction is made.
//!
//! They are a trait so that a test can let the machine crash at each of them.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use landfall_platform::{File, Mode};

/// Operations on the file system. Each either happens or does not; only `write_new` may be cut short, and then leaves
/// a file that nobody refers to yet.
pub(crate) trait Disk {
    /// Makes one directory, whose parent exists.
    fn make_directory(&self, path: &Path, private: bool) -> io::Result<()>;
    /// Writes a file that does not exist yet.
    fn write_new(&self, path: &Path, file: &File) -> io::Result<()>;
    /// Waits until files or directories are on stable storage.
    fn sync(&self, paths: &[PathBuf]) -> io::Result<()>;
    /// Puts a file in the place of another, or of none.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;
}

/// The operating system's file system.
pub(crate) struct Os;

impl Disk for Os {
    fn make_directory(&self, path: &Path, private: bool) -> io::Result<()> {
        make_directory(path, private)
    }

    fn write_new(&self, path: &Path, file: &File) -> io::Result<()> {
        let mode = match file.mode {
            Mode::Public => 0o644,
            Mode::Private => 0o600,
        };
        let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
        out.write_all(&file.contents)
    }

    /// One thread per file: the file system then commits them together instead of one after another.
    fn sync(&self, paths: &[PathBuf]) -> io::Result<()> {
        let sync = |path: &PathBuf| fs::File::open(path)?.sync_all();
        if let [path] = paths {
            return sync(path);
        }
        std::thread::scope(|scope| {
            let syncs: Vec<_> = paths.iter().map(|path| scope.spawn(move || sync(path))).collect();
            syncs.into_iter().try_for_each(|handle| handle.join().expect("fsync does not panic"))
        })
    }

    #[expect(clippy::disallowed_methods, reason = "one operation of a transaction, which stores names with `sync`")]
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

pub(crate) fn make_directory(path: &Path, private: bool) -> io::Result<()> {
    fs::DirBuilder::new().mode(if private { 0o700 } else { 0o755 }).create(path)
}
