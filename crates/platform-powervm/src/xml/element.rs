//! Elements: looking into them, and changing them.

use std::sync::Arc;

/// A name as it is written, with its prefix. Names repeat by the thousand in a feed, so they are shared.
pub type Name = Arc<str>;

/// An element with everything in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    pub(super) name: Name,
    pub(super) attributes: Vec<(Name, Name)>,
    pub(super) children: Vec<Node>,
}

/// What stands in an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Another element.
    Element(Element),
    /// Text, with its references resolved.
    Text(String),
    /// Text that was written as a CDATA section.
    CData(String),
    /// A comment.
    Comment(String),
    /// A processing instruction.
    Instruction(String),
    /// The XML declaration; only before the root.
    Declaration(String),
}

impl Element {
    /// An empty element. The name may have a prefix.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), attributes: Vec::new(), children: Vec::new() }
    }

    /// An element with a text.
    #[expect(clippy::needless_pass_by_value, reason = "callers give texts and numbers alike")]
    pub fn text_of(name: &str, text: impl ToString) -> Self {
        let mut element = Self::new(name);
        element.set_text(&text.to_string());
        element
    }

    /// With one more child at the end.
    #[must_use]
    pub fn with(mut self, child: Self) -> Self {
        self.push(child);
        self
    }

    /// With one more attribute, or another value for it.
    #[must_use]
    pub fn with_attribute(mut self, name: &str, value: &str) -> Self {
        self.set_attribute(name, value);
        self
    }

    /// The name as it is written.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name without its prefix. The server changes prefixes as it likes, so this is what names are compared by.
    pub fn local_name(&self) -> &str {
        self.name.rsplit_once(':').map_or(&self.name, |(_, local)| local)
    }

    /// An attribute, by its name as it is written.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| &**key == name).map(|(_, value)| &**value)
    }

    /// All attributes, as they are written.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Gives an attribute another value, or adds it.
    pub fn set_attribute(&mut self, name: &str, value: &str) {
        match self.attributes.iter_mut().find(|(key, _)| &**key == name) {
            Some((_, old)) => *old = value.into(),
            None => self.attributes.push((name.into(), value.into())),
        }
    }

    /// Everything in it, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.children
    }

    /// The elements in it, in order.
    pub fn elements(&self) -> impl DoubleEndedIterator<Item = &Self> {
        self.children.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            _ => None,
        })
    }

    /// The elements in it, to be changed.
    pub fn elements_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Self> {
        self.children.iter_mut().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            _ => None,
        })
    }

    /// The elements in it, taken out of it.
    pub fn into_elements(self) -> impl Iterator<Item = Self> {
        self.children.into_iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            _ => None,
        })
    }

    /// The elements of a name, in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl DoubleEndedIterator<Item = &'a Self> {
        self.elements().filter(move |element| element.local_name() == name)
    }

    /// The first element of a name.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.elements().find(|element| element.local_name() == name)
    }

    /// The first element of a name, to be changed.
    pub fn child_mut(&mut self, name: &str) -> Option<&mut Self> {
        self.elements_mut().find(|element| element.local_name() == name)
    }

    /// The element at a path of names: `Storage/LogicalUnit`.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |element, name| element.child(name))
    }

    /// Its text, without that of the elements in it, and without blanks around it.
    pub fn text(&self) -> String {
        let text = self.children.iter().filter_map(|node| match node {
            Node::Text(text) | Node::CData(text) => Some(text.as_str()),
            _ => None,
        });
        text.collect::<String>().trim().to_owned()
    }

    /// The text of the element at a path, if it is there.
    pub fn text_at(&self, path: &str) -> Option<String> {
        self.at(path).map(Self::text)
    }

    /// Replaces everything in it by a text.
    pub fn set_text(&mut self, text: &str) {
        self.children.clear();
        if !text.is_empty() {
            self.children.push(Node::Text(text.to_owned()));
        }
    }

    /// Adds an element at the end.
    pub fn push(&mut self, child: Self) {
        self.children.push(Node::Element(child));
    }

    /// Adds a CDATA section at the end.
    pub fn push_cdata(&mut self, text: &str) {
        self.children.push(Node::CData(text.to_owned()));
    }

    /// Puts an element where `order`, the names in the order of the schema, wants it: after the last element that comes
    /// before it or has its name. Elements that the order does not know stay where they are.
    pub fn insert(&mut self, child: Self, order: &[&str]) {
        let rank = |name: &str| order.iter().position(|known| *known == name);
        let Some(place) = rank(child.local_name()) else { return self.push(child) };
        let not_after = |node: &Node| match node {
            Node::Element(element) => {
                element.local_name() == "Metadata" || rank(element.local_name()).is_some_and(|other| other <= place)
            }
            _ => false,
        };
        let index = self.children.iter().rposition(not_after).map_or(0, |last| last + 1);
        self.children.insert(index, Node::Element(child));
    }

    /// Puts an element where the order wants it, in place of those of its name.
    pub fn replace(&mut self, child: Self, order: &[&str]) {
        let name = child.local_name().to_owned();
        let index = self
            .children
            .iter()
            .position(|node| matches!(node, Node::Element(element) if element.local_name() == name));
        let Some(index) = index else { return self.insert(child, order) };
        self.children[index] = Node::Element(child);
        let mut seen = false;
        self.children.retain(|node| match node {
            Node::Element(element) if element.local_name() == name => !std::mem::replace(&mut seen, true),
            _ => true,
        });
    }

    /// Takes out the elements that are not wanted; how many they were.
    pub fn remove(&mut self, unwanted: impl Fn(&Self) -> bool) -> usize {
        let before = self.children.len();
        self.children.retain(|node| !matches!(node, Node::Element(element) if unwanted(element)));
        before - self.children.len()
    }

    /// The namespace that its prefix stands for, if it is declared here or in one of the elements around it, which come
    /// from the inside to the outside.
    pub fn namespace<'a>(&'a self, around: impl IntoIterator<Item = &'a Self>) -> Option<&'a str> {
        let declaration = match self.name.rsplit_once(':') {
            Some((prefix, _)) => format!("xmlns:{prefix}"),
            None => "xmlns".to_owned(),
        };
        std::iter::once(self).chain(around).find_map(|element| element.attribute(&declaration))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Document;

    fn element(text: &str) -> Element {
        Document::parse(text.as_bytes()).unwrap().root
    }

    #[test]
    fn an_element_goes_where_the_order_wants_it() {
        let mut vios = element("<V><Metadata/><A/><C/><Unknown/><D/></V>");
        vios.insert(Element::new("B"), &["A", "B", "C", "D"]);
        vios.insert(Element::new("D"), &["A", "B", "C", "D"]);
        let names: Vec<&str> = vios.elements().map(Element::local_name).collect();
        assert_eq!(names, ["Metadata", "A", "B", "C", "Unknown", "D", "D"]);
        let mut empty = element("<V><Metadata/><B/></V>");
        empty.insert(Element::new("A"), &["A", "B"]);
        assert_eq!(empty.to_string(), "<V><Metadata/><A/><B/></V>");
    }

    #[test]
    fn replacing_leaves_one_of_the_name_in_its_place() {
        let mut list = element("<L><A>1</A><B/><A>2</A></L>");
        list.replace(Element::text_of("A", 3), &[]);
        assert_eq!(list.to_string(), "<L><A>3</A><B/></L>");
    }

    #[test]
    fn prefixes_are_resolved_through_what_is_around() {
        let document = element(r#"<a:X xmlns:a="urn:1" xmlns="urn:2"><Y><a:Z/></Y></a:X>"#);
        let y = document.child("Y").unwrap();
        let z = y.child("Z").unwrap();
        assert_eq!(z.namespace([y, &document]), Some("urn:1"));
        assert_eq!(y.namespace([&document]), Some("urn:2"));
    }
}
