//! Documents of a PowerVM console: whatever is read is written as the same document, and nothing panics.

#![no_main]

use libfuzzer_sys::fuzz_target;

// The tree alone, without the HTTP client around it, which would have to be built with instruments too.
#[allow(dead_code)]
#[path = "../../crates/platform-powervm/src/xml/mod.rs"]
mod xml;

fuzz_target!(|text: &[u8]| {
    let Ok(document) = xml::Document::parse(text) else { return };
    let written = document.to_string();
    let again = xml::Document::parse(written.as_bytes()).expect("what was written can be read");
    assert_eq!(written, again.to_string());
    assert_eq!(document.root.text(), again.root.text());
});
