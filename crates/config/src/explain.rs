//! Documentation of the fields, from the doc comments of the types.

use std::fmt::Write;

use serde_json::Value;

use crate::{
    format, path,
    path::Segment,
    schema::{Kind, Node},
    spelling,
};

/// More words than are listed in a line.
const LONG_LIST: usize = 8;
/// Lines are broken before this column.
const WIDTH: usize = 100;

/// A field path that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no field '{path}' in the install-config{}", .suggestion.as_ref().map(|s| format!("; {s}")).unwrap_or_default())]
pub struct UnknownField {
    /// The path that was asked for.
    pub path: String,
    /// What may have been meant, or what there is.
    pub suggestion: Option<String>,
}

/// Documents a field, or the whole file. Items of lists have no place in the path: `compute.name`.
pub fn explain(path: Option<&str>) -> Result<String, UnknownField> {
    let Some(text) = path.filter(|path| !path.is_empty()) else {
        return Ok(render("install-config.yaml", Node::root(), false));
    };
    let Some((segments, "")) = path::split(text) else {
        return Err(UnknownField { path: text.to_owned(), suggestion: None });
    };
    let (mut node, mut parent) = (Node::root(), None);
    for (i, segment) in segments.iter().enumerate() {
        let next = node.child(segment).ok_or_else(|| UnknownField {
            path: text.to_owned(),
            suggestion: suggestion(node, segment, &path::join(&segments[..i])),
        })?;
        parent = Some((node, segment));
        node = next;
    }
    let required = parent.is_some_and(|(parent, segment)| is_required(parent, segment));
    Ok(render(text, node, required))
}

fn suggestion(node: Node, segment: &Segment, above: &str) -> Option<String> {
    let Segment::Key(key) = segment else { return None };
    let names: Vec<&str> = children(node).into_iter().map(|(name, _)| name).collect();
    match spelling::closest(key, names.iter().copied()) {
        Some(meant) => Some(format!("did you mean '{}'?", path::key(above, meant))),
        None if names.is_empty() => Some(format!("{above} has no fields")),
        None if above.is_empty() => Some(format!("there is: {}", names.join(", "))),
        None => Some(format!("{above} has: {}", names.join(", "))),
    }
}

fn render(title: &str, node: Node, required: bool) -> String {
    let mut text = format!("{title}  ({})\n\n", summary(node, required));
    paragraph(&mut text, node.doc(), "  ");
    let has_fields = matches!(node.kind(), Kind::Object { .. } | Kind::Choice(_));
    if let Some(doc) = node.type_doc().filter(|_| has_fields) {
        text.push('\n');
        paragraph(&mut text, doc.strip_prefix(node.doc()).unwrap_or(doc), "  ");
    }
    if let Some(default) = node.default().filter(|default| default.is_array()) {
        let _ = write!(text, "\n  Default: {}\n", inline(default));
    }
    let leaf = node.item();
    if let Kind::Enumeration(words) = leaf.kind() {
        table(&mut text, "Values", words.into_iter().map(|(word, node)| (word.to_owned(), node.doc())));
    }
    let heading = if matches!(leaf.kind(), Kind::Choice(_)) { "Exactly one of" } else { "Fields" };
    let fields = children(node).into_iter().map(|(name, field)| {
        let required = is_required(node, &Segment::Key(name.to_owned()));
        (format!("{name}  ({})", summary(field, required)), first_sentence(field.doc()))
    });
    table(&mut text, heading, fields);
    text
}

/// The type in a few words, and whether the field has to be given.
pub(crate) fn summary(node: Node, required: bool) -> String {
    let mut words = kind_name(node, false);
    if required {
        words.push_str(", required");
    }
    if let Some(default) = node.default().filter(|default| !default.is_object() && !default.is_array()) {
        let _ = write!(words, ", default {}", inline(default));
    }
    words
}

fn kind_name(node: Node, plural: bool) -> String {
    let s = if plural { "s" } else { "" };
    match node.kind() {
        Kind::Text { format, .. } => match format::describe(format) {
            "text" => "text".to_owned(),
            "IP address" if plural => "IP addresses".to_owned(),
            "length of time" if plural => "lengths of time".to_owned(),
            name => format!("{name}{s}"),
        },
        Kind::Integer { allowed: Some(allowed), .. } => {
            allowed.iter().map(u64::to_string).collect::<Vec<_>>().join(" or ")
        }
        Kind::Integer { minimum, maximum, .. } if maximum == u64::from(u32::MAX) => {
            format!("whole number{s} of {minimum} or more")
        }
        Kind::Integer { minimum, maximum, .. } => format!("whole number{s} from {minimum} to {maximum}"),
        Kind::Number => format!("number{s}"),
        Kind::Boolean => "true or false".to_owned(),
        Kind::Enumeration(words) => {
            // Long lists have a page of their own.
            let shown = if words.len() > LONG_LIST { LONG_LIST / 2 } else { words.len() };
            let more = (shown < words.len()).then_some("…");
            let words: Vec<&str> = words.iter().take(shown).map(|(word, _)| *word).chain(more).collect();
            format!("one of: {}", words.join(", "))
        }
        Kind::List(item) => format!("list{s} of {}", kind_name(item, true)),
        Kind::Map { values, .. } => format!("mapping{s} to {}", kind_name(values, true)),
        Kind::Object { .. } | Kind::Choice(_) => format!("mapping{s}"),
    }
}

pub(crate) fn children(node: Node) -> Vec<(&'static str, Node)> {
    match node.item().kind() {
        Kind::Object { fields, .. } | Kind::Choice(fields) => fields,
        _ => Vec::new(),
    }
}

pub(crate) fn is_required(parent: Node, segment: &Segment) -> bool {
    match (parent.item().kind(), segment) {
        (Kind::Object { required, .. }, Segment::Key(key)) => required.contains(&key.as_str()),
        _ => false,
    }
}

/// A value on one line, in YAML's flow form without needless quotes.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let fields: Vec<String> = map.iter().map(|(key, value)| format!("{key}: {}", inline(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

fn table(text: &mut String, heading: &str, rows: impl Iterator<Item = (String, &'static str)>) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    let _ = write!(text, "\n{heading}:\n");
    for (name, doc) in rows {
        let _ = writeln!(text, "  {name}");
        paragraph(text, doc, "      ");
    }
}

/// Everything up to the first full stop that ends a sentence.
fn first_sentence(doc: &str) -> &str {
    let end = doc.match_indices('.').find(|(at, _)| {
        let rest = &doc[at + 1..];
        rest.is_empty() || rest.starts_with(['\n', ' ']) && rest.trim_start().starts_with(|c: char| c.is_uppercase())
    });
    end.map_or(doc, |(at, _)| &doc[..at])
}

fn paragraph(text: &mut String, words: &str, indent: &str) {
    let mut column = 0;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            text.push('\n');
            column = 0;
        }
        if column == 0 {
            text.push_str(indent);
            column = indent.len();
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_through_lists_and_choices() {
        for path in
            ["compute.name", "compute[0].name", "platform.ovirt.affinityGroups.priority", "dns.route53.ttl", "labels.x"]
        {
            assert!(explain(Some(path)).unwrap().starts_with(path), "{path}");
        }
    }

    #[test]
    fn every_field_can_be_explained() {
        fn visit(node: Node, at: &str) {
            for (name, field) in children(node) {
                let path = path::key(at, name);
                let text = explain(Some(&path)).unwrap();
                assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
                visit(field, &path);
            }
        }
        visit(Node::root(), "");
    }

    #[test]
    fn suggests_what_may_have_been_meant() {
        for (path, wanted) in [
            ("platfrom", "there is no field 'platfrom' in the install-config; did you mean 'platform'?"),
            (
                "platform.ovirt.apiVips",
                "there is no field 'platform.ovirt.apiVips' in the install-config; did you mean 'platform.ovirt.api_vips'?",
            ),
            ("baseDomain.x", "there is no field 'baseDomain.x' in the install-config; baseDomain has no fields"),
            ("metadata.zzzzzz", "there is no field 'metadata.zzzzzz' in the install-config; metadata has: name"),
            ("a b", "there is no field 'a b' in the install-config"),
        ] {
            assert_eq!(explain(Some(path)).unwrap_err().to_string(), wanted);
        }
    }

    #[test]
    fn sentences_end_before_a_capital() {
        assert_eq!(
            first_sentence("Version, for example `1.36.4`. Default: the newest."),
            "Version, for example `1.36.4`"
        );
        assert_eq!(first_sentence("One.\nTwo."), "One");
        assert_eq!(first_sentence("No stop"), "No stop");
    }
}
