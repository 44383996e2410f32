//! Files with credentials that other tools and people write too.
//!
//! Such a file is edited as text, line by line, so that comments and keys of other tools stay exactly as they are. Whether that
//! worked is checked by reading the result: a file in a form that lines cannot be cut out of (a flow mapping, for example) is
//! refused rather than mangled.

use std::{
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::Path,
};

use serde_json::{Map, Value};

/// Why a file with credentials was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It could not be read or written.
    #[error("the file cannot be read or written")]
    File(#[from] std::io::Error),
    /// It is not in a form that can be edited.
    #[error("{0}")]
    Format(&'static str),
}

/// A warning, if others than the owner may read the file.
pub fn exposure(path: &Path) -> Option<String> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| {
        let path = path.display();
        format!("{path} holds a password and others may read it (mode {mode:04o}): chmod 600 {path}")
    })
}

/// Replaces what a YAML file says about `keys` by `new`, a YAML mapping: whole or not at all, readable by the owner only. Keys
/// of others are kept as they are, and a file that is not there is made.
pub fn replace_keys(path: &Path, keys: &[&str], new: &str) -> Result<(), EditError> {
    // A symlink (as managers of dot files make them) stays one: its target is replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.into()),
    };
    let after = edited(&before, keys, new).map_err(EditError::Format)?;
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    Ok(landfall_durable::write(&target, after, landfall_durable::Access::Private)?)
}

const CANNOT_EDIT: &str =
    "its layout does not allow changing the credentials and keeping the rest; write one key per line";

/// The text with `new` in place of what it says about `keys` and everything else kept, or why that cannot be done.
fn edited(text: &str, keys: &[&str], new: &str) -> Result<String, &'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut kept = String::new();
    let mut ours = false;
    for line in text.split_inclusive('\n') {
        if let Some(key) = top_level_key(line) {
            ours = keys.contains(&key);
        } else if line.starts_with('#') || line.trim().is_empty() {
            // Comments and blank lines between keys belong to nobody; inside our block scalars they are indented or ours.
            ours = ours && line.trim().is_empty();
        }
        if !ours {
            kept.push_str(line);
        }
    }
    if !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    let result = format!("{kept}{new}");
    let mut intended = read(text).map_err(|()| "it is not a YAML mapping")?;
    intended.retain(|key, _| !keys.contains(&key.as_str()));
    intended.extend(read(new).map_err(|()| CANNOT_EDIT)?);
    if read(&result) == Ok(intended) { Ok(result) } else { Err(CANNOT_EDIT) }
}

/// The key that a line begins, if it begins one at the left margin.
fn top_level_key(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let plain = !key.is_empty() && !key.starts_with([' ', '\t', '#', '-', '{', '[']);
    (plain && (rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n'])))
        .then(|| key.trim_end().trim_matches(['"', '\'']))
}

/// The keys and values of a file. The order of keys does not count when two are compared.
fn read(text: &str) -> Result<Map<String, Value>, ()> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let contents: Option<Map<String, Value>> = serde_saphyr::from_str(text).map_err(|_| ())?;
    Ok(contents.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 3] = ["url", "user", "bundle"];
    const NEW: &str = "url: https://new/\nuser: admin\n";

    fn replace(text: &str) -> Result<String, &'static str> {
        edited(text, &KEYS, NEW)
    }

    #[test]
    fn keeps_comments_and_keys_of_others_as_they_are() {
        let before = "# mine\r\nother_tool: 0777 # octal\nnested:\n  url: mine\n  list: [yes, no]\n\
            url: https://old/\nbundle: |-\n  -----BEGIN CERTIFICATE-----\n\n  old\n\
            # about the user\n\"user\": old\nlast: 1";
        let after = replace(before).unwrap();
        let kept =
            "# mine\r\nother_tool: 0777 # octal\nnested:\n  url: mine\n  list: [yes, no]\n# about the user\nlast: 1\n";
        assert_eq!(after, format!("{kept}{NEW}"));
    }

    #[test]
    fn replacing_again_changes_nothing() {
        let once = replace("a: 1\n").unwrap();
        assert_eq!(replace(&once).unwrap(), once);
    }

    #[test]
    fn a_stale_key_does_not_survive() {
        let after = replace("bundle: old\nkeep: 1\n").unwrap();
        assert!(!read(&after).unwrap().contains_key("bundle"));
    }

    #[test]
    fn refuses_what_it_would_mangle() {
        for text in ["{url: old, other: 1}\n", "- a\n- b\n", "a: [unclosed\n", "a: 1\n---\nb: 2\n", "a: 1\n...\n"] {
            assert!(replace(text).is_err(), "{text}");
        }
    }
}
