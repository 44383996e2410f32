//! One run at a time: `.landfall/lock`.

use std::{
    fmt,
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, WorkDir, disk, names};

/// How often, and with which pauses, the lock is tried again: for a second. A program that a run was starting when it was killed holds
/// a copy of the lock until it has begun, which takes so long on a machine under load.
const LOOKS: u32 = 50;
const LOOK: Duration = Duration::from_millis(20);

/// Who holds the lock. Never holds arguments, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// The host it runs on: the directory may be shared.
    pub host: String,
    /// The command, for example `create manifests`.
    pub command: String,
    /// When it took the lock.
    pub since: Timestamp,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'landfall {}' (process {} on {}, since {:.0})", self.command, self.pid, self.host, self.since)
    }
}

/// An install directory in which no other run can write while this value lives.
///
/// The lock is the system's own (`flock`, which Linux carries over NFS too), so it goes away with the process, however
/// that ends; the file only says who holds it.
#[derive(Debug)]
pub struct Locked {
    dir: WorkDir,
    // Dropped, and so unlocked, after `Drop` below has tidied up.
    _file: File,
    made_state_directory: bool,
}

/// Who is at work in a directory, if somebody is. Disturbs nobody: whoever wants the lock in that very instant tries again.
pub(crate) fn holder(dir: &WorkDir) -> Option<Holder> {
    let mut file = File::open(dir.path(names::LOCK)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read_holder(&mut file),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

impl Locked {
    pub(crate) fn take(dir: WorkDir, holder: &Holder) -> Result<Self> {
        let failed = |source| Error::Lock { path: dir.root().to_owned(), source };
        let path = dir.path(names::LOCK);
        let mut made_state_directory = false;
        let mut file = loop {
            made_state_directory |= make_state_directory(&dir.path(names::STATE_DIRECTORY))?;
            let file = match open(&path) {
                Ok(file) => file,
                // A run that wrote nothing took the directory away again just now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            match try_lock(&file) {
                Ok(()) if is_at(&file, &path).map_err(failed)? => break file,
                // The last holder removed the file between our opening and locking it.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(in_use(file, dir.root())),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        };
        // A full disk must not hide behind this: the holder is only named for the reader of an error message.
        let _unnamed = name_holder(&mut file, holder);
        Ok(Self { dir, _file: file, made_state_directory })
    }

    /// The directory.
    pub fn dir(&self) -> &WorkDir {
        &self.dir
    }
}

/// A run that wrote nothing leaves nothing behind, not even its lock.
impl Drop for Locked {
    fn drop(&mut self) {
        let state = self.dir.path(names::STATE_DIRECTORY);
        let only_the_lock = std::fs::read_dir(&state).is_ok_and(|entries| entries.count() == 1);
        if self.made_state_directory && only_the_lock {
            let _stays = std::fs::remove_file(self.dir.path(names::LOCK)).and_then(|()| std::fs::remove_dir(&state));
        }
    }
}

fn make_state_directory(path: &Path) -> Result<bool> {
    match disk::make_directory(path, true) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        Err(source) => Err(Error::Write { path: path.to_owned(), source }),
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Whether an open file is still the one that a path leads to.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(there) => {
            let here = file.metadata()?;
            Ok((here.dev(), here.ino()) == (there.dev(), there.ino()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn name_holder(file: &mut File, holder: &Holder) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&serde_json::to_vec(holder)?)
}

/// Locks a file. One who only looks holds the lock for microseconds; one who works, for much longer than is waited here.
fn try_lock(file: &File) -> std::result::Result<(), TryLockError> {
    for _ in 0..LOOKS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
            outcome => return outcome,
        }
    }
    file.try_lock()
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok().and_then(|_| serde_json::from_str(&text).ok())
}

fn in_use(mut file: File, root: &Path) -> Error {
    let path = PathBuf::from(root);
    match read_holder(&mut file) {
        Some(holder) => Error::Locked { path, holder: Box::new(holder) },
        None => Error::LockedByUnknown { path },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(command: &str) -> Holder {
        Holder { pid: 4711, host: "admin".to_owned(), command: command.to_owned(), since: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn a_looker_sees_who_is_at_work_and_nobody_afterwards() {
        let temp = tempfile::tempdir().unwrap();
        let looker = WorkDir::open(temp.path()).unwrap();
        assert_eq!(looker.holder(), None);
        std::fs::create_dir(temp.path().join(names::STATE_DIRECTORY)).unwrap();
        let working = WorkDir::open(temp.path()).unwrap().lock(&holder("create cluster")).unwrap();
        assert_eq!(looker.holder(), Some(holder("create cluster")));
        drop(working);
        assert_eq!(looker.holder(), None, "the file still names the last one");
    }

    #[test]
    fn a_second_run_is_told_who_is_at_work() {
        let temp = tempfile::tempdir().unwrap();
        let first = WorkDir::open(temp.path()).unwrap().lock(&holder("create manifests")).unwrap();
        let error = WorkDir::open(temp.path()).unwrap().lock(&holder("create install-config")).unwrap_err();
        let expected = "in use by 'landfall create manifests' (process 4711 on admin, since 1970-01-01T00:00:00Z)";
        assert!(error.to_string().ends_with(expected), "{error}");
        drop(first);
        WorkDir::open(temp.path()).unwrap().lock(&holder("create install-config")).unwrap();
    }

    #[test]
    fn a_lock_that_was_left_behind_locks_nobody_out() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join(names::STATE_DIRECTORY)).unwrap();
        std::fs::write(temp.path().join(names::LOCK), serde_json::to_vec(&holder("create manifests")).unwrap())
            .unwrap();
        WorkDir::open(temp.path()).unwrap().lock(&holder("create manifests")).unwrap();
    }

    /// The other program has the run's open files from its beginning until it is another program.
    #[test]
    fn a_program_that_a_killed_run_was_starting_locks_nobody_out() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join(names::STATE_DIRECTORY)).unwrap();
        let file = open(&temp.path().join(names::LOCK)).unwrap();
        file.try_lock().unwrap();
        let mut starting = std::process::Command::new("sleep").arg("0.2").stdin(file).spawn().unwrap();
        WorkDir::open(temp.path()).unwrap().lock(&holder("create cluster")).unwrap();
        assert!(starting.wait().unwrap().success());
    }

    #[test]
    fn a_run_that_writes_nothing_leaves_nothing() {
        let temp = tempfile::tempdir().unwrap();
        drop(WorkDir::open(temp.path()).unwrap().lock(&holder("create manifests")).unwrap());
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_one_of_many_gets_in() {
        let temp = tempfile::tempdir().unwrap();
        let inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Ok(_locked) = WorkDir::open(temp.path()).unwrap().lock(&holder("create manifests")) else {
                            continue;
                        };
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
    }
}
