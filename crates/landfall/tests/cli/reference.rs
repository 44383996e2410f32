//! The reference pages of the book.

use std::{fs, path::Path};

use crate::context::TestContext;

#[test]
fn the_pages_in_the_book_are_up_to_date() {
    let context = TestContext::empty();
    context.ok(&["docs"]);
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    for name in ["cli.md", "install-config.md"] {
        let committed = fs::read_to_string(book.join(name)).unwrap_or_default();
        let made = context.read(name);
        let differs = made.lines().zip(committed.lines()).find(|(made, committed)| made != committed);
        assert!(made == committed, "docs/reference/{name} is out of date ({differs:?}): run `make docs`");
    }
}
