//! Programs that judge what is rendered. `make test` installs them; a test without its judge fails.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

/// Runs a program and returns what it printed. Panics with all of that if it fails.
pub(crate) fn run(program: impl AsRef<OsStr>, arguments: &[&str]) -> String {
    let (ok, output) = try_run(program.as_ref(), arguments);
    assert!(ok, "{} {arguments:?} failed:\n{output}", program.as_ref().display());
    output
}

/// Runs a program and returns whether it was content, and what it printed.
pub(crate) fn try_run(program: impl AsRef<OsStr>, arguments: &[&str]) -> (bool, String) {
    let program = program.as_ref();
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}; `make test` installs it", program.display()));
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// A program that Debian puts outside of the path of ordinary users.
pub(crate) fn system(name: &str) -> PathBuf {
    ["/usr/sbin", "/usr/bin"]
        .map(|directory| Path::new(directory).join(name))
        .into_iter()
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("{name} is missing; `make test` installs it"))
}

/// The real kubeadm, built from its Go module on first use.
pub(crate) fn kubeadm() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/build-kubernetes");
    PathBuf::from(run(&script, &["kubeadm"]).lines().last().expect("it prints the path").to_owned())
}
