//! Control groups, by which everything in a host is found, stopped and ended, whatever it forked.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the kernel may take to end processes that were killed.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the kernel may take to stop processes where they stand.
const FREEZE_LIMIT: Duration = Duration::from_secs(2);

/// A control group of the second version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cgroup(PathBuf);

impl Cgroup {
    /// Where control groups of the second version are, according to the mounts (`/proc/self/mounts`).
    pub(super) fn root(mounts: &str) -> Option<Self> {
        let mut lines = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        lines.find(|words| words.get(2) == Some(&"cgroup2")).map(|words| Self(PathBuf::from(words[1])))
    }

    pub(super) fn child(&self, name: &str) -> Self {
        Self(self.0.join(name))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn create(&self) -> io::Result<()> {
        fs_err::create_dir_all(&self.0)
    }

    /// Stops every process in it where it stands. Returns when all have stopped, or when that takes too long. Nothing to do if it does not exist.
    #[expect(clippy::disallowed_methods, reason = "a request to the kernel, not a file")]
    pub(super) fn freeze(&self) -> io::Result<()> {
        match fs_err::write(self.0.join("cgroup.freeze"), "1") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        }
        let deadline = Instant::now() + FREEZE_LIMIT;
        while Instant::now() < deadline {
            let events = fs_err::read_to_string(self.0.join("cgroup.events"))?;
            if events.lines().any(|line| line == "frozen 1") {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Ends every process in it at once. Nothing to do if it does not exist.
    #[expect(clippy::disallowed_methods, reason = "a request to the kernel, not a file")]
    pub(super) fn kill(&self) -> io::Result<()> {
        match fs_err::write(self.0.join("cgroup.kill"), "1") {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Kills and removes it with all below it; returns when it is gone.
    pub(super) async fn remove(&self) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.kill()?;
            match remove_tree(&self.0) {
                // Killed processes are in their group until they have really ended.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                other => return other,
            }
        }
    }

    /// The first process of the host that systemd-nspawn runs in this group, if it is up.
    pub(super) fn init(&self) -> Option<u32> {
        let processes = std::fs::read_to_string(self.0.join("payload/init.scope/cgroup.procs")).ok()?;
        processes.lines().next()?.parse().ok()
    }
}

fn remove_tree(path: &Path) -> io::Result<()> {
    let entries = match std::fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    std::fs::remove_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_version_is_found_where_it_is_mounted() {
        let hybrid = "cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(Cgroup::root(hybrid).unwrap().path(), Path::new("/sys/fs/cgroup/unified"));
        assert_eq!(Cgroup::root("proc /proc proc rw 0 0\n"), None);
    }
}
