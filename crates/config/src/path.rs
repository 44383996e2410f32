//! Field paths: `compute[0].platform.ovirt.cpu`, `labels."example.com/team"`.

use std::fmt::Write;

/// One part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// A key of a mapping.
    Key(String),
    /// A place in a list.
    Index(usize),
}

/// The path of a key below another path.
pub(crate) fn key(parent: &str, key: &str) -> String {
    let dot = if parent.is_empty() { "" } else { "." };
    if is_plain(key) { format!("{parent}{dot}{key}") } else { format!("{parent}{dot}{key:?}") }
}

/// The path of an item of a list.
pub(crate) fn index(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}

/// Whether one path lies at or below another.
pub(crate) fn is_within(path: &str, ancestor: &str) -> bool {
    path.strip_prefix(ancestor)
        .is_some_and(|rest| ancestor.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The path that segments make.
pub(crate) fn join(segments: &[Segment]) -> String {
    segments.iter().fold(String::new(), |mut path, segment| {
        match segment {
            Segment::Key(name) => path = key(&path, name),
            Segment::Index(i) => write!(path, "[{i}]").expect("writing to a string cannot fail"),
        }
        path
    })
}

/// Takes a path off the front of a text and gives what follows it; nothing if it does not begin with a path.
pub(crate) fn split(text: &str) -> Option<(Vec<Segment>, &str)> {
    let (first, mut rest) = split_key(text)?;
    let mut segments = vec![first];
    loop {
        let (segment, after) = if let Some(after) = rest.strip_prefix('.') {
            split_key(after)?
        } else if let Some(after) = rest.strip_prefix('[') {
            let (digits, after) = after.split_once(']')?;
            (Segment::Index(digits.parse().ok()?), after)
        } else {
            return Some((segments, rest));
        };
        segments.push(segment);
        rest = after;
    }
}

fn split_key(text: &str) -> Option<(Segment, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (name, rest) = quoted.split_once('"')?;
        return Some((Segment::Key(name.to_owned()), rest));
    }
    let end = text.find(|c| !is_plain_char(c)).unwrap_or(text.len());
    (end > 0).then(|| (Segment::Key(text[..end].to_owned()), &text[end..]))
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(is_plain_char)
}

fn is_plain_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_apart_what_it_joins() {
        for text in [
            "baseDomain",
            "compute[0].replicas",
            "platform.ovirt.api_vips[1]",
            "labels.\"example.com/team\"",
            "a[0][1].b",
        ] {
            let (segments, rest) = split(text).unwrap();
            assert_eq!((join(&segments).as_str(), rest), (text, ""));
        }
    }

    #[test]
    fn stops_at_what_is_no_path() {
        for (text, rest) in [("a.b=c.d", "=c.d"), ("a b", " b"), ("a=", "=")] {
            assert_eq!(split(text).unwrap().1, rest);
        }
        for text in ["", ".a", "a.", "a..b", "a[x]", "a[", "[0]", "=x", "a[-1]", "\"a", "a[99999999999999999999]"] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    #[test]
    fn knows_ancestors() {
        assert!(is_within("a.b[0]", "a.b"));
        assert!(is_within("a.b", "a.b"));
        assert!(is_within("a", ""));
        assert!(!is_within("a.bc", "a.b"));
        assert!(!is_within("a", "a.b"));
    }
}
