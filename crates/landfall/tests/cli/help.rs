//! Help of every command, and what every command shares.

use std::process::Command;

use crate::context::{BINARY, Run, TestContext};

fn landfall(arguments: &[&str]) -> Run {
    Run::of(Command::new(BINARY).args(arguments).output().unwrap())
}

/// All commands, as the generated reference lists them.
fn commands() -> Vec<Vec<String>> {
    let context = TestContext::empty();
    context.ok(&["docs"]);
    let reference = context.read("cli.md");
    let headings = reference.lines().filter_map(|line| line.strip_prefix("## landfall"));
    headings.map(|rest| rest.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn no_line_is_wider_than_100_columns() {
    let commands = commands();
    assert!(commands.len() >= 10, "{commands:?}");
    for command in commands {
        for flag in ["-h", "--help"] {
            let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
            arguments.push(flag);
            let run = landfall(&arguments);
            assert_eq!(run.code, 0, "{arguments:?}");
            for line in run.stdout.lines() {
                assert!(line.chars().count() <= 100, "{arguments:?}: {line}");
            }
        }
    }
}

#[test]
fn the_table_of_contents() {
    insta::assert_snapshot!(landfall(&["-h"]).stdout);
}

#[test]
fn no_command_and_wrong_commands_are_usage_errors() {
    for arguments in [&[][..], &["create"], &["make"], &["create", "nothing"], &["status", "--output", "xml"]] {
        let run = landfall(arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn completion_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(landfall(&["completion", shell]).stdout.contains("ignition-configs"), "{shell}");
    }
    // Longer than an argument may be.
    let script = r#"bash -n <("$0" completion bash)"#;
    let output = Command::new("bash").args(["-c", script, BINARY]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn colours_only_where_they_are_wanted() {
    let context = TestContext::empty();
    let plain = context.run(&["create", "manifests"]).stderr;
    let colored = context.run(&["create", "manifests", "--color", "always"]).stderr;
    assert!(!plain.contains('\u{1b}') && colored.contains('\u{1b}'), "{plain}{colored}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let script = r#""$0" explain --schema | head -n 1; test "${PIPESTATUS[0]}" -eq 0"#;
    let output = Command::new("bash").args(["-c", script, BINARY]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
