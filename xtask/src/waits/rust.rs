//! Loops of Rust sources.

use super::{Loop, has_deadline, pauses};

/// What a pair of braces is around.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Function,
    Loop,
    Other,
}

/// Returns the loops of a source that sleep, outside of its tests.
pub(super) fn loops(text: &str) -> Vec<Loop> {
    let code = blanked(text);
    let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let line = |at: usize| code[..at].matches('\n').count();
    let mut loops = Vec::new();
    let mut open: Vec<(Block, usize)> = Vec::new();
    let mut head = 0;
    for (at, character) in code.char_indices() {
        match character {
            '{' => {
                open.push((block(&code[head..at]), head));
                head = at + 1;
            }
            '}' => {
                head = at + 1;
                let Some((Block::Loop, begins)) = open.pop() else { continue };
                if pauses(&code[begins..at]) {
                    let function = open.iter().rev().find(|(block, _)| *block == Block::Function);
                    let from = function.map_or(begins, |(_, begins)| *begins);
                    let first = begins + code[begins..at].len() - code[begins..at].trim_start().len();
                    let whole = &code[from..end_of(code, from).max(at)];
                    loops.push(Loop { lines: (line(first), line(at)), is_endless: !has_deadline(whole) });
                }
            }
            ';' => head = at + 1,
            _ => {}
        }
    }
    loops
}

fn block(head: &str) -> Block {
    let has = |word: &str| head.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word);
    if has("loop") || has("while") {
        Block::Loop
    } else if has("fn") {
        Block::Function
    } else {
        Block::Other
    }
}

/// Where the braces that open after a place are closed.
fn end_of(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, character) in code[from..].char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return from + at,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    code.len()
}

/// The source with blanks in the place of comments and of what is in quotes, so that only code is left. Lines stay lines.
fn blanked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = hashes + 2;
            text.get(at + begin..)
                .and_then(|inner| inner.find(&end))
                .map_or(rest.len(), |found| begin + found + end.len())
        } else if rest[0] == b'"' {
            quoted(rest)
        } else if rest[0] == b'\'' {
            character(rest)
        } else {
            at += 1;
            continue;
        };
        for byte in out[at..at + length].iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
        at += length;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the number of hashes if a raw string begins here.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest.strip_prefix(b"r")?.iter().take_while(|byte| **byte == b'#').count();
    (rest.get(1 + hashes) == Some(&b'"')).then_some(hashes)
}

fn quoted(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// A character; a lifetime is left as it is.
fn character(rest: &[u8]) -> usize {
    let end = rest.iter().skip(2).take(10).position(|byte| *byte == b'\'').map(|found| found + 3);
    match rest.get(1) {
        Some(b'\\') => end.unwrap_or(1),
        Some(_) if rest.get(2) == Some(&b'\'') => 3,
        _ => 1,
    }
}
