//! Atom feeds and entries.

use crate::xml::{Document, Element};

/// An object with what is known about it beside its own elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// The tag of this version of it.
    pub etag: Option<String>,
    /// The object.
    pub object: Element,
}

impl Entry {
    /// Reads a document that is a feed or an entry; what is wrong with it otherwise.
    pub fn parse(text: &[u8]) -> Result<Vec<Self>, String> {
        entries(Document::parse(text).map_err(|error| error.to_string())?, None)
    }

    /// The text at a path of element names; empty if there is nothing.
    pub fn text(&self, path: &str) -> String {
        self.object.text_at(path).unwrap_or_default()
    }

    /// The number at a path.
    pub fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.text(path).parse().ok()
    }

    /// Whether the text at a path is `true`.
    pub fn is(&self, path: &str) -> bool {
        self.text(path) == "true"
    }
}

/// The id at the end of a link.
pub(crate) fn linked_id(element: &Element) -> Option<String> {
    let href = element.attribute("href").or_else(|| element.child("link")?.attribute("href"))?;
    href.split('?').next()?.rsplit('/').next().map(str::to_owned)
}

/// The entries of a document: those of a feed, or the only one. What is neither is said.
pub(super) fn entries(document: Document, etag: Option<&str>) -> Result<Vec<Entry>, String> {
    let root = document.root;
    match root.local_name() {
        "entry" => Ok(vec![entry(root, &[], etag)?]),
        "feed" => {
            let declarations = declarations(&root);
            let entries = root.into_elements().filter(|element| element.local_name() == "entry");
            entries.map(|element| entry(element, &declarations, None)).collect()
        }
        other => Err(format!("it is neither a feed nor an entry but '{other}'")),
    }
}

fn entry(element: Element, around: &[(String, String)], etag: Option<&str>) -> Result<Entry, String> {
    let id = element.text_at("id").unwrap_or_default();
    let own_tag = element.text_at("etag").filter(|tag| !tag.is_empty());
    let mut scopes: Vec<(String, String)> = declarations(&element);
    let content = element.into_elements().find(|child| child.local_name() == "content");
    let content = content.ok_or("an entry has no content")?;
    let mut inner = declarations(&content);
    inner.append(&mut scopes);
    inner.extend(around.iter().cloned());
    let mut object = content.into_elements().next().ok_or("the content of an entry is empty")?;
    // On its own, the object still has to mean what it means here.
    for (name, value) in inner {
        if object.attribute(&name).is_none() {
            object.set_attribute(&name, &value);
        }
    }
    Ok(Entry { id, etag: own_tag.or_else(|| etag.map(str::to_owned)), object })
}

fn declarations(element: &Element) -> Vec<(String, String)> {
    let own = element.attributes().filter(|(name, _)| *name == "xmlns" || name.starts_with("xmlns:"));
    own.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Entry>, String> {
        entries(Document::parse(text.as_bytes()).unwrap(), Some("9"))
    }

    #[test]
    fn feeds_and_entries_are_read() {
        let feed = r#"<feed xmlns="a" xmlns:x="b"><id>f</id><entry><id>1</id><e:etag xmlns:e="u">-5</e:etag>
            <content type="t"><T:T xmlns:T="u" xmlns="u"><x:N>v</x:N></T:T></content></entry></feed>"#;
        let entries = read(feed).unwrap();
        assert_eq!((entries[0].id.as_str(), entries[0].etag.as_deref()), ("1", Some("-5")));
        assert_eq!(entries[0].text("N"), "v");
        // The prefix of the feed is declared on the object now.
        assert_eq!(entries[0].object.attribute("xmlns:x"), Some("b"));
        let entry = read(r#"<entry xmlns="a"><id>1</id><content><T xmlns="u"/></content></entry>"#).unwrap();
        assert_eq!(entry[0].etag.as_deref(), Some("9"));
    }

    #[test]
    fn what_is_neither_is_refused() {
        for text in ["<html/>", "<entry/>", "<entry><content/></entry>", "<feed><entry/></feed>"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(read("<feed/>").unwrap(), []);
    }
}
