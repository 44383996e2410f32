//! Users and runs take turns, in any order, with crashes: no story may end in a loss.

use std::{collections::BTreeMap, fs, path::Path};

use proptest::prelude::*;

use super::{
    Source, commit, contents,
    faulty_disk::{Fault, FaultyDisk},
    lock, plan,
};
use crate::{Choice, Choices, Outcome, disk::Os};

const PATHS: [&str; 5] = [
    "manifests/constant.yaml",
    "manifests/derived.yaml",
    "manifests/certificate.yaml",
    "manifests/sometimes.yaml",
    "manifests/mine.yaml",
];

#[derive(Clone, Debug)]
enum Event {
    /// The user writes a file; the number makes the text unique.
    Write(usize, u8),
    Delete(usize),
    /// The user deletes the whole directory.
    DeleteAll,
    Run {
        source: Source,
        choices: Choices,
        crash: Option<usize>,
    },
}

fn source() -> impl Strategy<Value = Source> {
    (1..4u8, 0..3u8).prop_map(|(config, nonce)| Source { config, nonce })
}

fn choices() -> impl Strategy<Value = Choices> {
    let choice = prop_oneof![Just(Choice::Regenerate), Just(Choice::KeepStale)];
    let named = prop::option::of((0..PATHS.len(), choice.clone()));
    (prop::option::of(choice), named).prop_map(|(otherwise, named)| {
        let choices = otherwise.map_or_else(Choices::default, Choices::for_all);
        named.into_iter().fold(choices, |choices, (path, choice)| choices.with(PATHS[path], choice))
    })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (0..PATHS.len(), any::<u8>()).prop_map(|(path, text)| Event::Write(path, text)),
        2 => (0..PATHS.len()).prop_map(Event::Delete),
        1 => Just(Event::DeleteAll),
        8 => (source(), choices(), prop::option::of(0..30usize))
            .prop_map(|(source, choices, crash)| Event::Run { source, choices, crash }),
    ]
}

/// What the user wrote and has not deleted or overwritten.
type Works = BTreeMap<&'static str, String>;

fn write(root: &Path, path: &'static str, text: &str, works: &mut Works) {
    fs::create_dir_all(root.join("manifests")).unwrap();
    fs::write(root.join(path), text).unwrap();
    works.insert(path, text.to_owned());
}

fn run(root: &Path, source: Source, choices: &Choices, crash: Option<usize>) {
    let locked = lock(root);
    let before = contents(root);
    let Ok(settled) = plan(&locked, source, choices) else {
        assert_eq!(contents(root), before, "an open question, and something was written");
        return;
    };
    let disk = FaultyDisk::new(Fault::Crash, crash.unwrap_or(usize::MAX >> 1));
    if commit(&locked, &settled, &disk).is_err() {
        return;
    }
    let effective = settled.effective();
    for (path, file) in effective.iter() {
        assert_eq!(fs::read(root.join(path)).unwrap(), file.contents, "{path} is not what later stages use");
    }
    let again = plan(&locked, source, &Choices::default()).expect("a run that ended leaves no question");
    assert!(!again.outcomes().any(|(_, outcome)| outcome.writes() || outcome == Outcome::Remove), "{again:?}");
    assert!(!commit(&locked, &again, &Os).unwrap().changed, "a run that ended leaves nothing to do");
    assert_eq!(again.effective(), effective);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn nothing_that_the_user_wrote_is_lost(events in prop::collection::vec(event(), 1..14)) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        let mut works = Works::new();
        for event in events {
            match event {
                Event::Write(path, text) => write(root, PATHS[path], &format!("by the user {text}"), &mut works),
                Event::Delete(path) => {
                    let _not_there = fs::remove_file(root.join(PATHS[path]));
                    works.remove(PATHS[path]);
                }
                Event::DeleteAll => {
                    let _not_there = fs::remove_dir_all(root.join("manifests"));
                    works.clear();
                }
                Event::Run { source, choices, crash } => run(root, source, &choices, crash),
            }
            let files = contents(root);
            for (path, text) in &works {
                let somewhere = files.iter().any(|(file, contents)| file.ends_with(path) && contents == text);
                prop_assert!(somewhere, "{path} with '{text}' is neither in place nor in a backup: {files:?}");
            }
        }
    }
}
