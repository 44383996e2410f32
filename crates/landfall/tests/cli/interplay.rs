//! Two runs at once, and runs that are stopped. A stand-in for the release's installer holds a run where it is.

use std::{
    fs,
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    process::{Child, Command, Stdio},
};

use crate::context::{Run, TestContext};

/// A run that holds the lock and waits.
struct Waiting {
    context: TestContext,
    child: Child,
}

impl Waiting {
    /// Starts a run, and returns once it is at work.
    fn start() -> Self {
        let context = TestContext::empty();
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/tests/fixtures/openshift");
        context.write("install-config.yaml", fs::read(format!("{fixtures}/install-config.yaml")).unwrap());
        let program = context.home().join("openshift-install");
        let [at_work, go_on] = ["at-work", "go-on"].map(|name| context.home().join(name));
        for pipe in [&at_work, &go_on] {
            assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }
        let script = format!("#!/bin/sh\necho > {}\nread line < {}\n", at_work.display(), go_on.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = context.command(&["create", "manifests"]);
        command.arg("--openshift-install").arg(&program).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // Blocks until the other side is opened and written.
        fs::File::open(at_work).unwrap().read_to_end(&mut Vec::new()).unwrap();
        Self { context, child }
    }

    /// Lets the stand-in end, so that no process stays behind.
    fn release(&self) {
        fs::write(self.context.home().join("go-on"), "go on\n").unwrap();
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
    }
}

#[test]
fn a_second_run_is_locked_out_and_told_by_whom() {
    let mut waiting = Waiting::start();
    let context = &waiting.context;
    for command in [
        &["create", "manifests"][..],
        &["create", "ignition-configs"],
        &["create", "install-config", "--overwrite", "--from", &context.path("install-config.yaml").to_string_lossy()],
    ] {
        let run = context.run(command);
        assert_eq!(run.code, 3, "{command:?}: {}", run.stderr);
        let holder = format!("is in use by 'landfall create manifests' (process {} on ", waiting.child.id());
        assert!(run.stderr.contains(&holder) && run.stderr.contains(", since 20"), "{}", run.stderr);
        assert!(run.stderr.contains("hint: wait until that run has ended"), "{}", run.stderr);
    }
    context.ok(&["status"]);
    waiting.release();
    assert_eq!(waiting.child.wait().unwrap().code(), Some(3), "the stand-in is no installer");
}

#[test]
fn the_lock_of_a_killed_run_locks_nobody_out() {
    let mut waiting = Waiting::start();
    waiting.signal("-KILL");
    waiting.child.wait().unwrap();
    waiting.release();
    waiting.context.write("install-config.yaml", crate::context::EXAMPLE);
    waiting.context.ok(&["create", "manifests"]);
}

#[test]
fn an_interrupt_stops_cleanly_and_says_how_to_go_on() {
    for signal in ["-INT", "-TERM"] {
        let waiting = Waiting::start();
        let before = waiting.context.visible_tree();
        waiting.signal(signal);
        let Waiting { context, child } = waiting;
        let output = child.wait_with_output();
        let run = Run::of(output.unwrap());
        assert_eq!(run.code, 8, "{signal}: {}", run.stderr);
        assert!(run.stderr.contains("error: interrupted"), "{}", run.stderr);
        assert!(run.stderr.contains("to go on: run 'landfall create manifests' again"), "{}", run.stderr);
        assert_eq!(context.visible_tree(), before);
        fs::write(context.home().join("go-on"), "go on\n").unwrap();
    }
}
