//! The reference pages of the book.

use std::{collections::BTreeSet, fs, path::Path};

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

/// Each row of an attempt names what shows its outcome: tests, scenarios on real hosts, fuzz targets.
#[test]
fn the_threat_model_cites_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let model = fs::read_to_string(root.join("docs/threat-model.md")).unwrap();
    let mut known = BTreeSet::new();
    for directory in ["crates", "e2e/src", "fuzz/targets", "xtask"] {
        collect_names(&root.join(directory), &mut known);
    }
    let mut cited = 0;
    for row in model.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [_, _, shown_by] = cells.as_slice() else { continue };
        let is_name = |name: &&str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_…".contains(letter));
        for name in shown_by.split('`').skip(1).step_by(2).filter(is_name) {
            let (start, end) = name.split_once('…').unwrap_or((name, ""));
            let is_it = |known: &String| {
                known == name || name.contains('…') && known.starts_with(start) && known.ends_with(end)
            };
            assert!(known.iter().any(is_it), "docs/threat-model.md cites {name}, and there is no such test");
            cited += 1;
        }
    }
    assert!(cited > 20, "only {cited} names were found");
}

/// Adds the names of all functions and files of Rust below a directory.
fn collect_names(directory: &Path, known: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_names(&path, known);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            known.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
            let text = fs::read_to_string(&path).unwrap();
            let functions = text.lines().filter_map(|line| line.split_once("fn ")?.1.split_once(['(', '<']));
            known.extend(functions.map(|(name, _)| name.to_owned()));
        }
    }
}
