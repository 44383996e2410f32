//! A disk that fails at a chosen operation.

use std::{
    cell::Cell,
    io,
    path::{Path, PathBuf},
};

use landfall_platform::File;

use crate::disk::{Disk, Os};

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The process is killed: that operation and all later ones, also those that would tidy up, never happen.
    Crash,
    /// The disk is full for that one operation.
    Full,
}

/// Fails at the operation with the given number, counted from zero. A write that fails leaves half of its bytes.
pub(super) struct FaultyDisk {
    fault: Fault,
    operations_left: Cell<isize>,
}

impl FaultyDisk {
    pub(super) fn new(fault: Fault, operation: usize) -> Self {
        Self { fault, operations_left: Cell::new(operation.try_into().unwrap()) }
    }

    /// Whether the fault has come about.
    pub(super) fn struck(&self) -> bool {
        self.operations_left.get() < 0
    }

    fn operation(&self, run: impl FnOnce() -> io::Result<()>, cut_short: impl FnOnce()) -> io::Result<()> {
        let left = self.operations_left.get();
        self.operations_left.set(left - 1);
        match self.fault {
            _ if left > 0 => run(),
            Fault::Full if left < 0 => run(),
            fault => {
                if left == 0 {
                    cut_short();
                }
                Err(match fault {
                    Fault::Crash => io::Error::other("killed"),
                    Fault::Full => io::ErrorKind::StorageFull.into(),
                })
            }
        }
    }
}

impl Disk for FaultyDisk {
    fn make_directory(&self, path: &Path, private: bool) -> io::Result<()> {
        self.operation(|| Os.make_directory(path, private), || {})
    }

    fn write_new(&self, path: &Path, file: &File) -> io::Result<()> {
        let half = File { contents: file.contents[..file.contents.len() / 2].to_vec(), mode: file.mode };
        self.operation(|| Os.write_new(path, file), || Os.write_new(path, &half).unwrap())
    }

    fn sync(&self, paths: &[PathBuf]) -> io::Result<()> {
        self.operation(|| Os.sync(paths), || {})
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operation(|| Os.rename(from, to), || {})
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.operation(|| Os.remove_file(path), || {})
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.operation(|| Os.remove_directory(path), || {})
    }
}
