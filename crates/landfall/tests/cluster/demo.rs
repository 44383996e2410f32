//! The demonstration.

use std::{fs, process::Command};

use crate::{
    context::{BINARY, Run},
    process::Process,
};

/// `landfall demo` in an environment that holds nothing else, with its temporary files in a directory of its own.
fn demo(temp: &tempfile::TempDir, flags: &[&str]) -> Process {
    let mut command = Command::new(BINARY);
    command.args(["demo", "--time-scale", "200", "--masters", "1", "--workers", "1"]).args(flags);
    command.env_clear().env("HOME", temp.path()).env("TMPDIR", temp.path()).current_dir(temp.path());
    Process::start(command, temp.path().join("run"))
}

/// Everything that was made for a demonstration, other than what it printed.
fn leftovers(temp: &tempfile::TempDir) -> Vec<String> {
    let names = fs::read_dir(temp.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with("run.")).collect()
}

#[test]
fn the_whole_story_is_told_and_nothing_is_left() {
    let temp = tempfile::tempdir().unwrap();
    let Run { code, stdout, stderr } = demo(&temp, &[]).wait();
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("-master-0") && stdout.contains("-worker-"), "{stdout}");
    assert!(stdout.contains("installation      ready"), "{stdout}");
    for told in ["$ landfall create cluster", "$ landfall destroy cluster", "the very same as at the beginning"] {
        assert!(stderr.contains(told), "{told}: {stderr}");
    }
    assert_eq!(leftovers(&temp), [""; 0]);
}

#[test]
fn what_is_kept_can_be_talked_to_until_ctrl_c() {
    let temp = tempfile::tempdir().unwrap();
    let mut process = demo(&temp, &["--keep"]);
    let file = temp.path().join("run.stderr");
    let told = process.until("how to talk to it", || {
        let told = fs::read_to_string(&file).unwrap();
        if told.contains("landfall destroy cluster --dir") { Ok(told) } else { Err(told) }
    });
    let value = |name: &str| told.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{told}"));
    let credentials = value("export OVIRT_CONFIG=");
    let dir = value("landfall status --dir ");
    let output = Command::new(BINARY)
        .args(["destroy", "cluster", "--dry-run", "--dir", dir])
        .env_clear()
        .env("OVIRT_CONFIG", credentials)
        .output()
        .unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    assert!(found.contains("-master-0"), "{found}{}", String::from_utf8_lossy(&output.stderr));
    process.interrupt();
    assert_eq!(process.wait().code, 0);
    assert_eq!(leftovers(&temp), [""; 0]);
}

#[test]
fn ctrl_c_in_the_middle_cleans_up() {
    let temp = tempfile::tempdir().unwrap();
    let mut process = demo(&temp, &[]);
    let told = temp.path().join("run.stderr");
    process.until("the first object to be made", || {
        let told = fs::read_to_string(&told).unwrap();
        if told.contains("\nmade ") { Ok(()) } else { Err(told) }
    });
    process.interrupt();
    let Run { code, stderr, .. } = process.wait();
    assert_eq!(code, 8, "{stderr}");
    assert!(stderr.contains("removing what was created") && stderr.contains("is left on its platform"), "{stderr}");
    assert_eq!(leftovers(&temp), [""; 0]);
}

/// Tells the story of one platform, which says whose it is, and looks for what is left.
fn story(platform: &str, told: &[&str]) {
    let temp = tempfile::tempdir().unwrap();
    let Run { code, stdout, stderr } = demo(&temp, &[platform]).wait();
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("-master-0") && stdout.contains("-worker-"), "{stdout}");
    for told in told.iter().chain(&["the very same as at the beginning"]) {
        assert!(stderr.contains(told), "{told}: {stderr}");
    }
    assert_eq!(leftovers(&temp), [""; 0]);
}

#[test]
fn the_story_on_powervm_leaves_nothing() {
    story("powervm", &["PowerVM servers, simulated in this process", "partitions: "]);
}

#[test]
fn the_story_on_powervs_leaves_nothing() {
    story("powervs", &["An account at IBM Cloud, simulated in this process"]);
}

#[test]
fn the_story_on_packet_leaves_nothing() {
    story("packet", &["An account at Packet, simulated in this process"]);
}
