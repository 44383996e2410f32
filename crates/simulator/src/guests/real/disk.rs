//! The disk of a host: an image file with a file system of its own, which forgets what was not synced when the power goes.
//!
//! ```text
//! <directory>/image     XFS, mounted by `switch-on` in the namespace of the host
//! <directory>/storage   where it is mounted; empty as seen from outside
//! <directory>/…         what a loss of power does not touch: containerd's images, reports of the agent
//! ```
//!
//! A process that is killed loses nothing: what it has written is in the page cache, and reaches the image later. So before a host's processes
//! are killed, its file system is shut down without a flush of its log, as xfstests does to test journals. What no program has synced by
//! then never reaches the image, and the next mount replays the journal.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory that every file system of a host has, and that is nowhere outside of it.
const INSIDE: &str = "storage/upper";

/// The disk of a host.
#[derive(Clone, Debug)]
pub(super) struct Disk(PathBuf);

impl Disk {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self(directory)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.0
    }

    /// Where the agent of the host reports.
    pub(super) fn agent(&self) -> PathBuf {
        self.0.join("agent")
    }

    /// Drops what was not synced, and refuses everything from then on. `process` is a process of the host; it should not run, so that it
    /// tells nobody about an error that no machine without power has seen. Does nothing if the file system is not mounted.
    pub(super) fn lose_power(&self, process: u32) -> io::Result<()> {
        let Some(inside) = self.inside(process)? else { return Ok(()) };
        let output =
            Command::new("xfs_io").args(["-x", "-c", "shutdown"]).arg(&inside).stdin(Stdio::null()).output()?;
        if output.status.success() && output.stderr.is_empty() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(io::Error::other(format!("xfs_io ended with {}: {said}", output.status)))
    }

    /// A directory in the file system, by way of the namespace of a process; `None` if it is not mounted there. Fails if the directory is in a file
    /// system of the machine outside, which must never be shut down.
    fn inside(&self, process: u32) -> io::Result<Option<PathBuf>> {
        // A link of the kernel to the root of that process, which leads into its namespace.
        let relative = self.0.strip_prefix("/").unwrap_or(&self.0);
        let inside = Path::new("/proc").join(process.to_string()).join("root").join(relative).join(INSIDE);
        match std::fs::metadata(&inside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(metadata) if metadata.dev() == std::fs::metadata(&self.0)?.dev() => {
                Err(io::Error::other(format!("{} has no file system of its own", self.0.display())))
            }
            Ok(_) => Ok(Some(inside)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_of_the_machine_outside_is_never_shut_down() {
        let directory = tempfile::tempdir().unwrap();
        let disk = Disk::new(directory.path().to_owned());
        assert_eq!(disk.inside(std::process::id()).unwrap(), None);
        std::fs::create_dir_all(directory.path().join(INSIDE)).unwrap();
        let error = disk.inside(std::process::id()).unwrap_err().to_string();
        assert!(error.ends_with("has no file system of its own"), "{error}");
    }
}
