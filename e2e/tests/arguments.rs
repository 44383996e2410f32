//! What the program answers before anything is made.

#![allow(clippy::unwrap_used, reason = "a test that panics says where")]

use std::process::Command;

#[test]
fn without_a_program_for_the_hosts_nothing_is_begun() {
    let output = Command::new(env!("CARGO_BIN_EXE_landfall-e2e")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--node-agent"));
}
