//! The XML tree: what is written is read as the same, whatever it is; what is hostile is refused.

use landfall_platform_powervm::xml::{Document, Element};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = String> {
    "([a-z]{1,3}:)?[A-Za-z_][A-Za-z0-9_.-]{0,8}"
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![proptest::char::range(' ', '~'), Just('\n'), Just('\t'), Just('\r'), Just('é'), Just('\u{1f600}')],
        0..20,
    )
    .prop_map(|characters| characters.into_iter().collect())
}

fn element() -> impl Strategy<Value = Element> {
    let leaf = (name(), proptest::collection::btree_map(name(), text(), 0..4), text(), any::<bool>()).prop_map(
        |(name, attributes, text, cdata)| {
            let mut element = Element::new(&name);
            for (key, value) in attributes {
                element.set_attribute(&key, &value);
            }
            // A reader turns carriage returns in a section into line feeds, and there is no way to write them.
            if cdata && !text.contains('\r') && !text.is_empty() {
                element.push_cdata(&text);
            } else {
                element.set_text(&text);
            }
            element
        },
    );
    leaf.prop_recursive(4, 40, 5, |inner| {
        (name(), proptest::collection::vec(inner, 0..5))
            .prop_map(|(name, children)| children.into_iter().fold(Element::new(&name), Element::with))
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(element in element()) {
        let document = Document::new(element);
        let read = Document::parse(document.to_string().as_bytes()).unwrap();
        // Sections that hold the end of a section are divided, so compare what is written again.
        prop_assert_eq!(read.to_string(), Document::parse(read.to_string().as_bytes()).unwrap().to_string());
        prop_assert_eq!(read.root.text(), document.root.text());
        if !document.to_string().contains("]]]]>") {
            prop_assert_eq!(read, document);
        }
    }

    #[test]
    fn nothing_makes_it_panic(text in "[<>/!?&;\\[\\]a-c =\"'x#0-9-]{0,80}") {
        if let Ok(document) = Document::parse(text.as_bytes()) {
            prop_assert_eq!(Document::parse(document.to_string().as_bytes()).unwrap(), document);
        }
    }

    #[test]
    fn an_edit_touches_nothing_else(element in element(), value in text()) {
        let mut edited = element.clone();
        edited.insert(Element::text_of("Zz", value), &["Aa", "Zz"]);
        edited.remove(|child| child.name() == "Zz");
        let mut without = element;
        without.remove(|child| child.name() == "Zz");
        prop_assert_eq!(edited, without);
    }
}

#[test]
fn hostile_documents_are_refused_quickly() {
    let bomb = r#"<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;">]><a>&lol2;</a>"#;
    let outside = r#"<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>"#;
    let deep = "<a>".repeat(1_000_000);
    for text in [
        bomb,
        outside,
        &deep,
        "<a>&unknown;</a>",
        "<a",
        "<a></b>",
        "<a/>text",
        "text",
        "<a/><b/>",
        "",
        "<a b=c/>",
        "<a>\u{1}</a>",
    ] {
        let error = Document::parse(text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("at byte"), "{error}");
    }
    assert!(Document::parse(b"<a>\xff\xfe</a>").is_err());
}

#[test]
fn everything_in_a_document_is_kept() {
    let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!-- a --><?pi b?><x:r xmlns:x=\"urn:x\" xmlns=\"urn:d\" z=\"1\" a=\"&quot;&#10;\"> \n <y/>t&amp;<![CDATA[<c>]]><!--d--></x:r>";
    assert_eq!(Document::parse(text.as_bytes()).unwrap().to_string(), text);
}
