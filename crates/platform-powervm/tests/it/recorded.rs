//! Every response that IBM recorded and ships with pypowervm: it is read, and what is written is the same document.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use landfall_platform_powervm::xml::{Document, Element, Node};

/// The virtualenv of the conformance suite holds the recordings.
fn recordings() -> PathBuf {
    let suite = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/powervm/venv");
    let made = Command::new(&suite).output().expect("the script that makes the virtualenv runs");
    assert!(made.status.success(), "{}: {}", suite.display(), String::from_utf8_lossy(&made.stderr));
    let venv = String::from_utf8(made.stdout).unwrap();
    let library = PathBuf::from(venv.trim()).join("lib");
    let python = std::fs::read_dir(&library).unwrap().next().unwrap().unwrap().path();
    python.join("site-packages/pypowervm/tests/data")
}

/// The XML documents in a recording: the bodies of responses, or the file itself.
fn documents(text: &str) -> Vec<&str> {
    let bodies: Vec<&str> = text
        .split("BODY{")
        .skip(1)
        .filter_map(|rest| rest.split("END OF SECTION}").next())
        .map(str::trim)
        .filter(|body| body.starts_with('<'))
        .collect();
    if bodies.is_empty() && text.trim_start().starts_with('<') { vec![text.trim()] } else { bodies }
}

/// The canonical form, as far as it differs from document to document: attributes sorted, CDATA as text, no comments.
fn canonical(element: &Element, out: &mut String) {
    let mut attributes: Vec<(&str, &str)> = element.attributes().collect();
    attributes.sort_unstable();
    write!(out, "<{} {attributes:?}>", element.name()).unwrap();
    for node in element.nodes() {
        match node {
            Node::Element(child) => canonical(child, out),
            Node::Text(text) | Node::CData(text) => out.push_str(text),
            _ => {}
        }
    }
    write!(out, "</{}>", element.name()).unwrap();
}

#[test]
fn all_of_them_are_read_and_written_without_loss() {
    let (mut files, mut read, mut elements) = (0, 0, 0);
    for file in std::fs::read_dir(recordings()).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            continue;
        }
        files += 1;
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for body in documents(&text) {
            let document =
                Document::parse(body.as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let written = document.to_string();
            let again = Document::parse(written.as_bytes()).unwrap();
            assert_eq!(document, again, "{}", path.display());
            let (mut before, mut after) = (String::new(), String::new());
            canonical(&document.root, &mut before);
            canonical(&again.root, &mut after);
            assert_eq!(before, after, "{}", path.display());
            elements += before.matches("</").count();
            read += 1;
        }
    }
    assert!(files >= 79 && read >= 70 && elements > 40_000, "{files} files, {read} documents, {elements} elements");
    judged_by_libxml2();
}

/// The same again by another reader: lxml's canonical form (C14N) of each document and of what was written of it.
fn judged_by_libxml2() {
    let directory = tempfile::tempdir().unwrap();
    let mut number = 0;
    for file in std::fs::read_dir(recordings()).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for body in documents(&text) {
            let written = Document::parse(body.as_bytes()).unwrap().to_string();
            std::fs::write(directory.path().join(format!("{number}.before")), body).unwrap();
            std::fs::write(directory.path().join(format!("{number}.after")), written).unwrap();
            number += 1;
        }
    }
    let script = "import sys, glob\nfrom lxml import etree\nfiles = sorted(glob.glob(sys.argv[1] + '/*.before'))\nform = lambda name: etree.tostring(etree.parse(name), method='c14n', with_comments=True)\nbad = [name for name in files if form(name) != form(name.replace('.before', '.after'))]\nprint(len(files), bad)\nsys.exit(bool(bad) or not files)";
    let python = recordings().ancestors().nth(6).unwrap().join("bin/python");
    let judged = Command::new(python).arg("-c").arg(script).arg(directory.path()).output().unwrap();
    assert!(
        judged.status.success(),
        "{}{}",
        String::from_utf8_lossy(&judged.stdout),
        String::from_utf8_lossy(&judged.stderr)
    );
}
