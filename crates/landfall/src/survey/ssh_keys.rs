//! The user's SSH public keys.

use std::path::Path;

use landfall_platform::survey::{Choice, Rule};

/// The public keys in a directory (`~/.ssh/*.pub`), by file name. Files that hold no key, by the rule given, are left out.
pub(super) fn find(directory: &Path, rule: &Rule) -> Vec<Choice> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pub"));
    paths.sort();
    let readable = paths.iter().filter_map(|path| {
        let key = std::fs::read_to_string(path).ok()?.trim().to_owned();
        rule.judge(&key).ok()?;
        Some(Choice::new(&key, label(path, &key)))
    });
    readable.collect()
}

/// The file, and what tells one key from another: type and comment.
fn label(path: &Path, key: &str) -> String {
    let file = path.file_name().unwrap_or_default().display();
    let mut words = key.splitn(3, char::is_whitespace);
    let kind = words.next().unwrap_or_default();
    match words.nth(1) {
        Some(comment) => format!("{file} ({kind}, {comment})"),
        None => format!("{file} ({kind})"),
    }
}
