//! Directories that cannot be written, and disks that are full. Permissions mean nothing to root, so as root these tests
//! become somebody else first.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
    process::Command,
};

use crate::context::{BINARY, Run, TestContext};

/// A user that owns nothing.
const NOBODY: &str = "65534";

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Runs the binary as somebody who owns nothing here.
fn as_somebody_else(context: &TestContext, arguments: &[&str]) -> Run {
    // The build directory may lie where others cannot look.
    let binary = context.home().join("landfall");
    fs::copy(BINARY, &binary).unwrap();
    let mut path: &Path = &context.home();
    for _ in 0..2 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        path = path.parent().unwrap();
    }
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(&binary);
        command
    } else {
        Command::new(&binary)
    };
    command.args(arguments).arg("--dir").arg(context.dir()).env_clear().env("HOME", context.home());
    Run::of(command.output().expect("setpriv is installed"))
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_directory_that_cannot_be_written() {
    let context = TestContext::new();
    mode(&context.dir(), 0o555);
    let before = context.tree();
    let run = as_somebody_else(&context, &["create", "ignition-configs"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("cannot write") && run.stderr.contains("Permission denied"), "{}", run.stderr);
    assert!(run.stderr.contains("hint: check who owns"), "{}", run.stderr);
    assert_eq!(context.tree(), before);
    let run = as_somebody_else(&context, &["status"]);
    assert_eq!(run.code, 0, "reading needs no lock: {}", run.stderr);
    mode(&context.dir(), 0o755);
}

#[test]
fn a_file_or_directory_that_cannot_be_read() {
    let context = TestContext::new();
    mode(&context.path("install-config.yaml"), 0o000);
    let run = as_somebody_else(&context, &["create", "manifests"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("cannot read") && run.stderr.contains("install-config.yaml"), "{}", run.stderr);
    mode(&context.path("install-config.yaml"), 0o644);

    mode(&context.dir(), 0o000);
    for command in [&["create", "manifests"][..], &["create", "install-config"], &["status"]] {
        let run = as_somebody_else(&context, command);
        assert_eq!(run.code, 3, "{command:?}: {}", run.stderr);
        assert!(run.stderr.contains("Permission denied"), "{}", run.stderr);
    }
    mode(&context.dir(), 0o755);
    assert_eq!(context.tree().len(), 1);
}

/// Runs a script in a mount namespace of its own, in which a small disk is mounted on the install directory.
fn on_small_disk(context: &TestContext, script: &str) -> String {
    let mut command = Command::new("unshare");
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    let script = format!("set -eu\nmount -t tmpfs -o size=1m,nr_inodes=4k tmpfs \"$DIR\"\ncd \"$DIR\"\n{script}");
    command.args(["--mount", "sh", "-c", &script]);
    command.env("DIR", context.dir()).env("HOME", context.home()).env("LANDFALL", BINARY);
    command.env("CONFIG", context.home().join("install-config.yaml"));
    let output = command.output().expect("unshare is installed");
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "a small disk cannot be mounted, or the script failed:\n{text}");
    text
}

#[test]
fn a_full_disk_leaves_earlier_files_as_they_were() {
    let context = TestContext::empty();
    fs::write(context.home().join("install-config.yaml"), crate::context::EXAMPLE).unwrap();
    let text = on_small_disk(
        &context,
        r#"
        sums() { find . -type f ! -name landfall.log ! -name lock ! -name filler | sort | xargs sha256sum; }
        cp "$CONFIG" install-config.yaml
        "$LANDFALL" create manifests --quiet
        sums > "$HOME/before"
        dd if=/dev/zero of=filler bs=1k 2>/dev/null || true
        code=0
        "$LANDFALL" create ignition-configs --quiet || code=$?
        echo "exit code $code"
        sums > "$HOME/after"
        cmp "$HOME/before" "$HOME/after"
        test ! -e bootstrap.ign
        rm filler
        "$LANDFALL" create ignition-configs --quiet
        test -s bootstrap.ign && echo finished
        "#,
    );
    assert!(text.contains("exit code 3"), "{text}");
    assert!(text.contains("cannot write") && text.contains("No space left on device"), "{text}");
    assert!(text.contains("hint: free some space"), "{text}");
    assert!(text.contains("finished"), "{text}");
}

#[test]
fn a_disk_that_is_full_from_the_start_gets_nothing() {
    let context = TestContext::empty();
    fs::write(context.home().join("install-config.yaml"), crate::context::EXAMPLE).unwrap();
    let text = on_small_disk(
        &context,
        r#"
        cp "$CONFIG" install-config.yaml
        dd if=/dev/zero of=filler bs=1k 2>/dev/null || true
        code=0
        "$LANDFALL" create ignition-configs --quiet || code=$?
        echo "exit code $code"
        test "$(ls -A | sort | tr '\n' ' ')" = "filler install-config.yaml " && echo "nothing left"
        "#,
    );
    assert!(text.contains("exit code 3") && text.contains("nothing left"), "{text}");
}

#[test]
fn a_disk_that_is_mounted_read_only() {
    let context = TestContext::empty();
    fs::write(context.home().join("install-config.yaml"), crate::context::EXAMPLE).unwrap();
    let text = on_small_disk(
        &context,
        r#"
        cp "$CONFIG" install-config.yaml
        mount -o remount,ro .
        code=0
        "$LANDFALL" create ignition-configs --quiet || code=$?
        echo "exit code $code"
        "$LANDFALL" status
        "#,
    );
    assert!(text.contains("exit code 3") && text.contains("Read-only file system"), "{text}");
    assert!(text.contains("hint: use a directory on a file system that is mounted for writing"), "{text}");
    assert!(text.contains("install-config    usable"), "{text}");
}
