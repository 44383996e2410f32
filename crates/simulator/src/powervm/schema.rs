//! The schema: which elements an element has, in which order, and how they are adorned.
//!
//! `schema.txt` is made by `conformance/powervm/schema.py` from the responses that IBM recorded.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::xml::{Element, escape, push};

/// The namespace of managed objects.
pub(crate) const UOM: &str = "http://www.ibm.com/xmlns/systems/power/firmware/uom/mc/2012_10/";
/// The namespace of what belongs to the service itself.
pub(crate) const WEB: &str = "http://www.ibm.com/xmlns/systems/power/firmware/web/mc/2012_10/";

const TABLE: &str = include_str!("schema.txt");

/// An element that has elements.
#[derive(Debug, Default)]
struct Kind {
    /// Whether it begins with metadata.
    metadata: bool,
    children: Vec<Child>,
}

#[derive(Debug)]
struct Child {
    name: &'static str,
    /// Who may set it and when: `ROR`, `CUD`, ….
    code: &'static str,
    group: Option<&'static str>,
}

fn kinds() -> &'static HashMap<&'static str, Kind> {
    static KINDS: OnceLock<HashMap<&'static str, Kind>> = OnceLock::new();
    KINDS.get_or_init(|| TABLE.lines().filter_map(parse).collect())
}

fn parse(line: &'static str) -> Option<(&'static str, Kind)> {
    let (name, children) = line.split_once(": ")?;
    let child = |word: &'static str| {
        let (word, group) = word.split_once('@').map_or((word, None), |(word, group)| (word, Some(group)));
        let (name, code) = word.split_once('=').unwrap_or((word, "CUD"));
        Child { name, code, group }
    };
    let children = children.split_whitespace().map(child).collect();
    let plain = name.strip_suffix('*');
    Some((plain.unwrap_or(name), Kind { metadata: plain.is_some(), children }))
}

/// The groups of attributes that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    /// Everything.
    All,
    /// What has no group, and these.
    Only(Vec<String>),
}

impl Groups {
    /// As the query says; without a word about it, everything.
    pub(crate) fn of(query: &[(String, String)]) -> Self {
        let Some((_, value)) = query.iter().find(|(name, _)| name == "group") else { return Self::All };
        let words: Vec<String> = value.split(',').map(str::to_owned).collect();
        if words.iter().any(|word| word == "All") { Self::All } else { Self::Only(words) }
    }

    fn contains(&self, group: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(words) => words.iter().any(|word| word == group),
        }
    }

    /// Whether the element of this parent is asked for.
    pub(crate) fn includes(&self, parent: &str, name: &str) -> bool {
        let child = kinds().get(parent).and_then(|kind| kind.children.iter().find(|child| child.name == name));
        child.and_then(|child| child.group).is_none_or(|group| self.contains(group))
    }
}

/// Whether a client may change an element after its parent was made.
pub(crate) fn is_updatable(parent: &str, name: &str) -> bool {
    // Recorded answers call these read-only, but the platform's own library changes them.
    if (parent, name) == ("ManagementConsole", "AuthorizedKeys") {
        return true;
    }
    let child = kinds().get(parent).and_then(|kind| kind.children.iter().find(|child| child.name == name));
    child.is_none_or(|child| child.code.as_bytes().get(1) == Some(&b'U') || child.code.starts_with("UO"))
}

/// The first element that stands where the schema does not want it, as a sentence.
pub(crate) fn misplaced(element: &Element) -> Option<String> {
    if let Some(kind) = kinds().get(element.name.as_str()) {
        let mut last = (0, "");
        for child in element.children.iter().filter(|child| child.name != "Metadata") {
            let Some(place) = kind.children.iter().position(|known| known.name == child.name) else {
                return Some(format!(
                    "cvc-complex-type.2.4.a: Invalid content was found starting with element '{}' in '{}'.",
                    child.name, element.name
                ));
            };
            if place < last.0 {
                return Some(format!(
                    "cvc-complex-type.2.4.a: Invalid content was found starting with element '{}' in '{}'. It must stand before '{}'.",
                    child.name, element.name, last.1
                ));
            }
            last = (place, &child.name);
        }
    }
    element.children.iter().find_map(misplaced)
}

/// Writes the content of an entry: the object with everything that the schema adds to it.
pub(crate) fn write(out: &mut String, object: &Element, namespace: &str, id: Option<(&str, u64)>, view: View<'_>) {
    let name = &object.name;
    push(
        out,
        format_args!(
            "<{name}:{name} xmlns:{name}=\"{namespace}\" xmlns=\"{namespace}\" xmlns:ns2=\"http://www.w3.org/XML/1998/namespace/k2\" schemaVersion=\"V1_0\">\n"
        ),
    );
    match id {
        Some((id, created)) => push(
            out,
            format_args!(
                "    <Metadata>\n        <Atom>\n            <AtomID>{id}</AtomID>\n            <AtomCreated>{created}</AtomCreated>\n        </Atom>\n    </Metadata>\n"
            ),
        ),
        None => out.push_str("    <Metadata>\n        <Atom/>\n    </Metadata>\n"),
    }
    children(out, object, 1, view);
    push(out, format_args!("</{name}:{name}>\n"));
}

/// How an object is looked at.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// What is put before links: `http://host:port`.
    pub(crate) base: &'a str,
    /// What is asked for.
    pub(crate) groups: &'a Groups,
}

fn children(out: &mut String, element: &Element, depth: usize, view: View<'_>) {
    let Some(kind) = kinds().get(element.name.as_str()) else {
        for child in &element.children {
            write_child(out, child, None, depth, view);
        }
        return;
    };
    let rank = |child: &Element| kind.children.iter().position(|known| known.name == child.name);
    let mut sorted: Vec<&Element> = element.children.iter().collect();
    sorted.sort_by_key(|child| rank(child).unwrap_or(usize::MAX));
    for child in sorted {
        let known = rank(child).map(|index| &kind.children[index]);
        if known.and_then(|known| known.group).is_none_or(|group| view.groups.contains(group)) {
            write_child(out, child, known, depth, view);
        }
    }
}

fn write_child(out: &mut String, child: &Element, known: Option<&Child>, depth: usize, view: View<'_>) {
    let indent = "    ".repeat(depth);
    let complex = kinds().get(child.name.as_str()).filter(|_| child.text.is_empty() && child.href.is_none());
    push(out, format_args!("{indent}<{}", child.name));
    if let Some(known) = known.filter(|known| !known.code.is_empty() && child.name != "link") {
        push(out, format_args!(" kb=\"{}\" kxe=\"false\"", known.code));
    }
    if let Some(href) = &child.href {
        out.push_str(" href=\"");
        if href.starts_with('/') {
            out.push_str(view.base);
        }
        escape(out, href);
        out.push_str("\" rel=\"related\"");
    }
    if let Some(group) = known.and_then(|known| known.group) {
        push(out, format_args!(" group=\"{group}\""));
    }
    let metadata = complex.is_some_and(|kind| kind.metadata);
    if metadata {
        out.push_str(" schemaVersion=\"V1_0\"");
    }
    if !metadata && child.text.is_empty() && child.children.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push('>');
    if child.children.is_empty() && !metadata {
        escape(out, &child.text);
        push(out, format_args!("</{}>\n", child.name));
        return;
    }
    out.push('\n');
    if metadata {
        push(out, format_args!("{indent}    <Metadata>\n{indent}        <Atom/>\n{indent}    </Metadata>\n"));
    }
    children(out, child, depth + 1, view);
    push(out, format_args!("{indent}</{}>\n", child.name));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_checked_and_the_element_named() {
        let good = Element::record("VirtualSwitch", &[("SwitchID", "0"), ("SwitchMode", "Veb"), ("SwitchName", "A")]);
        assert_eq!(misplaced(&good), None);
        let bad = Element::record("VirtualSwitch", &[("SwitchName", "A"), ("SwitchMode", "Veb")]);
        assert!(misplaced(&bad).unwrap().contains("'SwitchMode' in 'VirtualSwitch'"));
        let unknown = Element::record("VirtualSwitch", &[("Colour", "red")]);
        assert!(misplaced(&unknown).unwrap().contains("'Colour'"));
    }

    #[test]
    fn groups_hide_what_was_not_asked_for() {
        let none = Groups::of(&[("group".into(), "None".into())]);
        assert!(!none.includes("VirtualIOServer", "VirtualSCSIMappings"));
        assert!(none.includes("VirtualIOServer", "PartitionName"));
        assert!(Groups::of(&[]).includes("VirtualIOServer", "VirtualSCSIMappings"));
    }

    #[test]
    fn what_is_written_is_in_order_and_adorned() {
        let element = Element::record("VirtualSwitch", &[("SwitchName", "A<B"), ("SwitchID", "0")]);
        let mut out = String::new();
        write(&mut out, &element, UOM, Some(("id", 1)), View { base: "http://h", groups: &Groups::All });
        let read = Element::parse(out.as_bytes()).unwrap();
        assert_eq!(read.children[1].name, "SwitchID");
        assert_eq!(read.text("SwitchName"), "A<B");
        assert!(out.contains("<SwitchID kb=\"ROR\" kxe=\"false\">0</SwitchID>"), "{out}");
    }
}
