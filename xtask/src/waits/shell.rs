//! Loops of scripts.

use super::{Loop, has_deadline, pauses};

/// Returns the loops of a script that sleep. A loop ends with the `done` that is indented like its beginning, as shfmt writes it.
pub(super) fn loops(text: &str) -> Vec<Loop> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let begins = |line: &str| ["until ", "while "].iter().any(|word| line.trim_start().starts_with(word));
    let mut loops = Vec::new();
    for (first, line) in lines.iter().enumerate().filter(|(_, line)| begins(line)) {
        let ends = |other: &&str| indent(other) == indent(line) && other.trim_start().starts_with("done");
        let last = lines[first..].iter().position(ends).map_or(lines.len() - 1, |after| first + after);
        let code: Vec<&str> =
            lines[first..=last].iter().copied().filter(|line| !line.trim_start().starts_with('#')).collect();
        let code = code.join("\n");
        if pauses(&code) {
            loops.push(Loop { lines: (first, last), is_endless: !has_deadline(&code) });
        }
    }
    loops
}
