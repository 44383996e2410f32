//! What can go wrong with an install directory.

use std::{io, path::PathBuf};

use crate::{Deviation, Holder, names};

/// The result of working with an install directory.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What was attempted on the install directory and failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such directory.
    #[error("install directory {} does not exist", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// Something is there, but no directory.
    #[error("install directory {} is not a directory", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Another run is at work in the directory.
    #[error("install directory {} is in use by {holder}", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
        /// Who holds the lock.
        holder: Box<Holder>,
    },
    /// Another run is at work, and has not yet said which.
    #[error("install directory {} is in use by another run of landfall", path.display())]
    LockedByUnknown {
        /// The directory.
        path: PathBuf,
    },
    /// The lock could not be taken for another reason.
    #[error("cannot lock install directory {}", path.display())]
    Lock {
        /// The directory.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Something that should be a file is a directory, a pipe or a device.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A manifest has a name that cannot be recorded.
    #[error("the name of manifest {} is not UTF-8", path.display())]
    NameNotUtf8 {
        /// The file.
        path: PathBuf,
    },
    /// A file or directory could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The record is not what Landfall wrote.
    #[error("{} is damaged: {why}", names::RECORD)]
    RecordDamaged {
        /// What is wrong with it.
        why: String,
    },
    /// The record was written by a newer Landfall.
    #[error("{} has format {found}, this landfall knows format {known}", names::RECORD)]
    RecordFormat {
        /// Its format.
        found: u32,
        /// The format of this version.
        known: u32,
    },
    /// The file with the cluster's identity is not what Landfall wrote.
    #[error("{} is damaged", names::IDENTITY)]
    IdentityDamaged {
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Files are not what was handed out to machines.
    #[error("cannot use files that differ from what was handed out to machines: {}", deviations(files))]
    NotAsHandedOut {
        /// The files, and how they differ.
        files: Vec<(String, Deviation)>,
    },
    /// The record of what was handed out is not what Landfall wrote.
    #[error("{} is damaged: {why}", names::FROZEN)]
    FrozenDamaged {
        /// What is wrong with it.
        why: String,
    },
    /// The record of what was handed out was written by a newer Landfall.
    #[error("{} has format {found}, this landfall knows format {known}", names::FROZEN)]
    FrozenFormat {
        /// Its format.
        found: u32,
        /// The format of this version.
        known: u32,
    },
}

fn deviations(files: &[(String, Deviation)]) -> String {
    let texts: Vec<_> = files.iter().map(|(path, deviation)| format!("{path} {}", deviation.words())).collect();
    texts.join(", ")
}

impl Error {
    /// What to do about it, if that can be said.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Missing { .. } => "create it, or name another directory with --dir",
            Self::NotADirectory { .. } => "name a directory with --dir",
            Self::Locked { .. } | Self::LockedByUnknown { .. } => {
                "wait until that run has ended, or use another directory; the lock goes away with the process"
            }
            Self::RecordDamaged { .. } => {
                "put back a copy of it; or remove it, then every file in the directory counts as yours and is kept as it is"
            }
            Self::NotAsHandedOut { .. } => {
                "put back what was handed out, there are copies in .landfall/frozen, and move away what was added; for a \
                 cluster that starts with other files, run 'landfall destroy cluster' first"
            }
            Self::FrozenDamaged { .. } => {
                "put back a copy of it: it says what machines were given; 'landfall destroy cluster' works without it"
            }
            Self::RecordFormat { .. } | Self::FrozenFormat { .. } => {
                "use the version of landfall that wrote it, or a later one"
            }
            Self::IdentityDamaged { .. } => {
                "put back a copy of it: without it the objects of this cluster are not found again"
            }
            Self::NotAFile { .. } | Self::NameNotUtf8 { .. } => "move it out of the install directory",
            Self::Lock { source, .. } | Self::Write { source, .. } | Self::Read { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "free some space and run the same command again; the files from before are as they were"
                }
                io::ErrorKind::PermissionDenied => "check who owns the file and its directory, and who may use them",
                io::ErrorKind::ReadOnlyFilesystem => "use a directory on a file system that is mounted for writing",
                _ => return None,
            },
        })
    }
}
