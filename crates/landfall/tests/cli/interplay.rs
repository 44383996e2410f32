//! Two runs at once, and runs that are stopped. A stand-in for the release's installer holds a run where it is.

use std::{
    fs,
    io::Read as _,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    process::{Child, Command, Stdio},
};

use crate::context::{Run, TestContext};

/// A run that holds the lock and waits.
struct Waiting {
    context: TestContext,
    child: Option<Child>,
    /// Closing it lets the stand-in end, also if the test panics.
    gate: Option<fs::File>,
}

impl Waiting {
    /// Starts a run, and returns once it is at work.
    fn start() -> Self {
        let context = TestContext::empty();
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/tests/fixtures/openshift");
        context.write("install-config.yaml", fs::read(format!("{fixtures}/install-config.yaml")).unwrap());
        let program = context.home().join("openshift-install");
        let [at_work, gate] = ["at-work", "gate"].map(|name| context.home().join(name));
        for pipe in [&at_work, &gate] {
            assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }
        let script = format!("#!/bin/sh\necho > {}\nread line < {}\n", at_work.display(), gate.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let gate = fs::OpenOptions::new().read(true).write(true).open(gate).unwrap();
        let mut command = context.command(&["create", "manifests"]);
        command.arg("--openshift-install").arg(&program).stdout(Stdio::piped()).stderr(Stdio::piped());
        // As a shell does it: Ctrl-C reaches the run and the programs that it started.
        command.process_group(0);
        let child = command.spawn().unwrap();
        // Blocks until the other side is opened and written.
        fs::File::open(at_work).unwrap().read_to_end(&mut Vec::new()).unwrap();
        Self { context, child: Some(child), gate: Some(gate) }
    }

    fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends a signal to the run, or, with a minus before it, to all of its group.
    fn signal(&self, signal: &str, receiver: &str) {
        let receiver = format!("{receiver}{}", self.pid());
        assert!(Command::new("kill").args([signal, "--", &receiver]).status().unwrap().success());
    }

    /// What the run came to, once it has ended by itself or by a signal.
    fn result(&mut self) -> Run {
        Run::of(self.child.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.gate = None;
        if let Some(mut child) = self.child.take() {
            child.kill().and_then(|()| child.wait()).unwrap();
        }
    }
}

#[test]
fn a_second_run_is_locked_out_and_told_by_whom() {
    let mut waiting = Waiting::start();
    let context = &waiting.context;
    let source = context.path("install-config.yaml");
    let overwrite = ["create", "install-config", "--overwrite", "--from", source.to_str().unwrap()];
    for command in [&["create", "manifests"][..], &["create", "ignition-configs"], &overwrite] {
        let run = context.run(command);
        assert_eq!(run.code, 3, "{command:?}: {}", run.stderr);
        let holder = format!("is in use by {} (process {} on ", context.named("create manifests"), waiting.pid());
        assert!(run.stderr.contains(&holder) && run.stderr.contains(", since 20"), "{}", run.stderr);
        assert!(run.stderr.contains("hint: wait until that run has ended"), "{}", run.stderr);
    }
    context.ok(&["status"]);
    waiting.gate = None;
    let run = waiting.result();
    assert_eq!(run.code, 3, "the stand-in is no installer: {}", run.stderr);
}

#[test]
fn the_lock_of_a_killed_run_locks_nobody_out() {
    let mut waiting = Waiting::start();
    waiting.signal("-KILL", "");
    waiting.result();
    waiting.context.write("install-config.yaml", crate::context::EXAMPLE);
    waiting.context.ok(&["create", "manifests"]);
}

#[test]
fn an_interrupt_stops_cleanly_and_says_how_to_go_on() {
    for (signal, receiver) in [("-INT", ""), ("-INT", "-"), ("-TERM", "")] {
        let mut waiting = Waiting::start();
        let before = waiting.context.visible_tree();
        waiting.signal(signal, receiver);
        let run = waiting.result();
        assert_eq!(run.code, 8, "{signal}: {}", run.stderr);
        assert!(run.stderr.contains("error: interrupted"), "{}", run.stderr);
        let hint = format!("to go on: run {} again", waiting.context.named("create manifests"));
        assert!(run.stderr.contains(&hint), "{}", run.stderr);
        assert_eq!(waiting.context.visible_tree(), before);
    }
}
