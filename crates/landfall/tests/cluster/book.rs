//! What the book shows in its console blocks is what happens.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    context::{BINARY, EXAMPLE, Run},
    network::Network,
};

const OVIRT: &str = include_str!("../../../../docs/platforms/ovirt.md");
const GUIDE: &str = include_str!("../../../../docs/guide.md");
/// The loopback network of the example.
const EXAMPLE_NETWORK: &str = "127.66.0.";

/// The commands of all console blocks and what is shown after each.
fn commands(page: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default().replace("\\\n", "");
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => commands.push((command.to_owned(), Vec::new())),
                None => commands.last_mut().expect("a block begins with a command").1.push(line.to_owned()),
            }
        }
    }
    commands
}

/// Whether the lines of a page follow each other in an output; `…` stands for anything, on its own for any lines.
fn shows(output: &str, line: &str, from: usize) -> Option<usize> {
    let mut parts = line.split('…');
    let first = parts.next().unwrap_or_default().trim_end();
    let mut at = from + output[from..].find(first)?;
    at += first.len();
    for part in parts {
        at += output[at..].find(part.trim_end())? + part.trim_end().len();
    }
    Some(at)
}

/// A directory as the pages assume it: the example, and the program in the path. Returns the page for the given network.
fn site(page: &str, temp: &Path, network: &Network) -> String {
    let own = network.address(0, 0).to_string();
    let own = own.trim_end_matches('0');
    fs::create_dir_all(temp.join("examples/ovirt")).unwrap();
    fs::create_dir(temp.join("bin")).unwrap();
    fs::write(temp.join("examples/ovirt/install-config.yaml"), EXAMPLE.replace(EXAMPLE_NETWORK, own)).unwrap();
    std::os::unix::fs::symlink(BINARY, temp.join("bin/landfall")).unwrap();
    // Only this test must not meet other simulators: a user has one.
    page.replace(EXAMPLE_NETWORK, own).replace(
        "landfall sim ovirt --time-scale 20",
        &format!("landfall sim ovirt --guest-network {} --time-scale 200", network.cidr()),
    )
}

#[test]
fn the_walk_on_the_simulator_is_as_the_page_shows_it() {
    run(OVIRT, 8);
}

#[test]
fn the_first_targets_are_as_the_guide_shows_them() {
    run(GUIDE, 5);
}

/// Runs the commands of a page, of which there are at least `least`, and looks for what the page shows of their outputs.
fn run(page: &str, least: usize) {
    let temp = tempfile::tempdir().unwrap();
    let network = Network::claim();
    let page = site(page, temp.path(), &network);
    let commands = commands(&page);
    assert!(commands.len() >= least, "{commands:?}");
    let mut script = String::from("set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n");
    for (number, (command, _)) in commands.iter().enumerate() {
        // Background jobs and exports belong to the shell itself.
        let redirected = command.ends_with('&') || command.contains(" > ");
        let redirect = if redirected || command.starts_with("kill ") || command.starts_with("export ") {
            String::new()
        } else {
            format!(" > out-{number} 2>&1")
        };
        let _ = writeln!(script, "echo '+ {number}' >&2\n{command}{redirect}");
    }
    let path = format!("{}:{}", temp.path().join("bin").display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-mc", &script])
        .env_clear()
        .env("PATH", path)
        .env("HOME", temp.path())
        .current_dir(temp.path())
        .stdin(Stdio::null())
        .output();
    let run = Run::of(output.unwrap());
    let outputs: Vec<String> = (0..commands.len())
        .map(|number| fs::read_to_string(temp.path().join(format!("out-{number}"))).unwrap_or_default())
        .collect();
    assert_eq!(run.code, 0, "{}\n{}", run.stderr, outputs.join("\n"));
    for ((command, shown), output) in commands.iter().zip(&outputs) {
        let mut at = 0;
        for line in shown.iter().filter(|line| *line != "…") {
            at =
                shows(output, line, at).unwrap_or_else(|| panic!("'{command}' does not show '{line}' here:\n{output}"));
        }
    }
}
