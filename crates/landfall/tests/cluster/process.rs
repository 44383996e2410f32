//! The program while it runs.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{context::Run, waiting::until};

/// A run of the program. It is ended when it is dropped.
pub(crate) struct Process {
    child: Child,
    /// Its output goes to files, so that it never waits for a reader and a failing test keeps it.
    output: PathBuf,
}

impl Process {
    pub(crate) fn start(mut command: Command, output: PathBuf) -> Self {
        let file = |name| File::create(output.with_extension(name)).unwrap();
        let child = command.stdout(file("stdout")).stderr(file("stderr")).stdin(Stdio::null()).spawn().unwrap();
        Self { child, output }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(self.output.with_extension("stderr")).unwrap_or_default()
    }

    /// Waits until something has come about while the program runs. It must not have ended by then.
    pub(crate) fn until<T>(&mut self, awaited: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
        until(awaited, || {
            // Before the look: what came about just before the end counts.
            let ended = self.child.try_wait().unwrap();
            match (look(), ended) {
                (Ok(found), _) => Ok(found),
                (Err(seen), None) => Err(seen),
                (Err(seen), Some(status)) => {
                    panic!("the program ended with {status} before {awaited}; seen: {seen}\n{}", self.stderr())
                }
            }
        })
    }

    /// Whether the program has come to its end by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// What `kill -9` does.
    pub(crate) fn kill(mut self) -> Run {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.told(-1)
    }

    /// What Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw).expect("a process has an id");
        kill_process(pid, Signal::INT).unwrap();
    }

    pub(crate) fn wait(mut self) -> Run {
        let status = until("the program to end", || self.child.try_wait().unwrap().ok_or_else(|| self.stderr()));
        self.told(status.code().unwrap_or(-1))
    }

    fn told(&self, code: i32) -> Run {
        let read = |name| fs::read_to_string(self.output.with_extension(name)).unwrap_or_default();
        Run { code, stdout: read("stdout"), stderr: read("stderr") }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}
