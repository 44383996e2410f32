//! Waits that end: a loop that sleeps has a deadline, or says why it needs none.
//!
//! A heuristic on the text, which is enough to make people think: a loop counts if it calls one of [`PAUSES`], and its function has a deadline
//! if one of [`DEADLINES`] is a word of an identifier in its code. Elsewhere a comment in the loop or right above it gives the reason, `// waits: <reason>`.

mod rust;
mod shell;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

/// What is called to wait.
const PAUSES: [&str; 3] = ["sleep", "sleep_until", "tick"];
/// Words of identifiers in the code of a function that ends its waits: `limit` is one of `TIME_LIMIT`, and none of `delimiter`.
const DEADLINES: [&str; 4] = ["deadline", "timeout", "elapsed", "limit"];
/// What gives the reason.
const REASON: &str = "waits: ";
/// Lines above a loop that belong to it.
const ABOVE: usize = 3;
/// Not what users run.
const LEFT_OUT: [&str; 2] = ["crates/simulator/", "crates/testkit/"];

/// A loop that sleeps.
#[derive(Debug, PartialEq, Eq)]
struct Loop {
    /// Its first and its last line, from 0.
    lines: (usize, usize),
    /// Whether it sleeps in a function without a deadline.
    is_endless: bool,
}

/// Fails with every loop that sleeps without a deadline and without a reason.
pub(crate) fn check() -> anyhow::Result<()> {
    let mut files = Vec::new();
    for root in ["crates", "python/nova-landfall/src"] {
        collect(Path::new(root), &mut files)?;
    }
    files.sort();
    let mut wrong = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let loops = if path.extension().is_some() { rust::loops(&text) } else { shell::loops(&text) };
        wrong.extend(unreasoned(&text, &loops).map(|line| format!("{}:{}", path.display(), line + 1)));
    }
    if !wrong.is_empty() {
        bail!(
            "these loops sleep without a deadline: give them one that fails with what was seen last, or a comment `{REASON}<reason>`\n  {}",
            wrong.join("\n  ")
        );
    }
    Ok(())
}

/// Collects the Rust sources of programs and libraries, and the scripts of machines.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))? {
        let path = entry?.path();
        let text = path.to_string_lossy();
        let is_test = ["/tests", "/benches/", "/examples/"].iter().any(|part| text.contains(part));
        if is_test || LEFT_OUT.iter().any(|prefix| text.starts_with(prefix)) {
            continue;
        }
        let is_source = text.contains("/src/") && path.extension().is_some_and(|extension| extension == "rs");
        let is_script = text.contains("/templates/") && path.extension().is_none();
        if path.is_dir() {
            collect(&path, files)?;
        } else if is_source || is_script {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the first lines of loops that have neither a deadline nor a reason.
fn unreasoned<'a>(text: &'a str, loops: &'a [Loop]) -> impl Iterator<Item = usize> + 'a {
    let lines: Vec<&str> = text.lines().collect();
    let endless = loops.iter().filter(|found| found.is_endless);
    endless
        .map(|found| found.lines)
        .filter(move |(first, last)| {
            let around = &lines[first.saturating_sub(ABOVE)..=(*last).min(lines.len() - 1)];
            !around.iter().any(|line| {
                line.split_once(REASON).is_some_and(|(before, reason)| {
                    (before.contains("//") || before.contains('#')) && !reason.trim().is_empty()
                })
            })
        })
        .map(|(first, _)| first)
}

/// Returns true if the code calls a function that waits.
fn pauses(code: &str) -> bool {
    let calls = |name: &str| {
        code.match_indices(name).any(|(at, _)| {
            let is_word = !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
            is_word && code[at + name.len()..].starts_with(['(', ' '])
        })
    };
    PAUSES.iter().any(|name| calls(name))
}

fn has_deadline(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    code.split(|character: char| !character.is_alphanumeric()).any(|word| DEADLINES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<usize> {
        unreasoned(text, &rust::loops(text)).collect()
    }

    const ENDLESS: &str = "async fn wait() {\n    loop {\n        sleep(PAUSE).await;\n    }\n}\n";

    #[test]
    fn a_loop_that_sleeps_for_ever_is_found() {
        assert_eq!(found(ENDLESS), [1]);
        assert_eq!(found(&ENDLESS.replace("loop", "while !path.exists()")), [1]);
        // A deadline of another function, in a text or in a comment is none.
        let elsewhere =
            format!("fn deadline() {{}}\n{}", ENDLESS.replace("loop", "say(\"deadline\"); // timeout\n loop"));
        assert_eq!(found(&elsewhere), [3]);
    }

    #[test]
    fn a_loop_that_waits_for_a_moment_or_a_tick_is_found() {
        assert_eq!(found(&ENDLESS.replace("sleep(PAUSE)", "tokio::time::sleep_until(next)")), [1]);
        assert_eq!(found(&ENDLESS.replace("sleep(PAUSE)", "ticks.tick()")), [1]);
        assert!(found(&ENDLESS.replace("sleep(PAUSE)", "clock.ticker()")).is_empty());
    }

    #[test]
    fn a_deadline_or_a_reason_is_enough() {
        assert!(found(&ENDLESS.replace("loop", "let deadline = now() + LIMIT;\n loop")).is_empty());
        assert!(found(&ENDLESS.replace("loop", "// waits: for as long as the program runs\n loop")).is_empty());
        assert!(found(&ENDLESS.replace(".await;", ".await; // waits: ended by its caller")).is_empty());
        assert_eq!(found(&ENDLESS.replace(".await;", ".await; // waits: ")), [1], "a reason has words");
        assert!(found(&ENDLESS.replace("sleep", "oversleep")).is_empty());
        assert_eq!(found(&ENDLESS.replace("loop", "let delimiter = limitless();\n loop")), [2], "no whole words");
        assert!(found(&ENDLESS.replace("loop", "let at = begun + TIME_LIMIT;\n loop")).is_empty());
        assert!(found(&ENDLESS.replace("loop", "timeout_at(end, ask()).await;\n loop")).is_empty());
        assert!(found(&format!("#[cfg(test)]\nmod tests {{\n{ENDLESS}}}\n")).is_empty());
    }

    #[test]
    fn scripts_are_looked_at_too() {
        let script = "#!/bin/sh\nuntil test -e file; do\n    sleep 2\ndone\n";
        let found = |text: &str| unreasoned(text, &shell::loops(text)).collect::<Vec<_>>();
        assert_eq!(found(script), [1]);
        assert!(found(&script.replace("sleep", "((SECONDS < deadline)) || exit 1; sleep")).is_empty());
        assert!(found(&script.replace("sleep", "# waits: as a service does\n    sleep")).is_empty());
        assert!(found(&script.replace("sleep 2", "break")).is_empty());
    }
}
