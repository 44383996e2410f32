//! What was handed out, and runs that are cut short while it is written down or moved out of the way.

use std::{collections::BTreeMap, fs};

use jiff::Timestamp;
use landfall_platform::InfraId;
use serde_json::json;
use tempfile::TempDir;

use super::{
    STAGE, Source, commit, contents,
    faulty_disk::{Fault, FaultyDisk},
    lock, plan,
};
use crate::{Choices, Deviation, Digest, Error, Frozen, Locked, disk::Os, names};

const SOURCE: Source = Source { config: 1, nonce: 0 };
const OTHER: &str = ".landfall/identity.json";

/// A directory with a stage, and what is about to be handed out of it.
fn ready() -> (TempDir, Locked, Frozen) {
    let temp = tempfile::tempdir().unwrap();
    let locked = lock(temp.path());
    let stage = plan(&locked, SOURCE, &Choices::default()).unwrap();
    commit(&locked, &stage, &Os).unwrap();
    fs::write(temp.path().join(OTHER), "identity").unwrap();
    let frozen = frozen(&locked, "first");
    (temp, locked, frozen)
}

fn frozen(locked: &Locked, config: &str) -> Frozen {
    let mut frozen = Frozen::new(infra_id(), Timestamp::UNIX_EPOCH, "0.1.0", json!(config), Digest::of("password"));
    frozen.add_stage(&plan(locked, SOURCE, &Choices::default()).unwrap());
    frozen.add_file(OTHER, locked.dir().read(OTHER).unwrap().unwrap());
    frozen.told.insert("address".to_owned(), "127.0.0.1:4711".to_owned());
    frozen
}

fn infra_id() -> InfraId {
    "demo-x7k2p".parse().unwrap()
}

fn deviations(locked: &Locked) -> Vec<(String, Deviation)> {
    let frozen = locked.dir().frozen().unwrap().unwrap();
    match frozen.plan(STAGE, locked.dir()).and_then(|_| frozen.check_others(locked.dir())) {
        Ok(()) => Vec::new(),
        Err(Error::NotAsHandedOut { files }) => files,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn it_is_read_back_and_its_files_are_used_as_they_are() {
    let (temp, locked, frozen) = ready();
    frozen.commit(&locked).unwrap();
    let read = locked.dir().frozen().unwrap().unwrap();
    assert_eq!((&read.infra_id, &read.config, &read.told), (&frozen.infra_id, &frozen.config, &frozen.told));
    let before = plan(&locked, SOURCE, &Choices::default()).unwrap().effective();
    assert_eq!(read.plan(STAGE, locked.dir()).unwrap().effective(), before);
    for (path, file) in before.iter() {
        let copy = temp.path().join(names::FROZEN_FILES).join(path);
        assert_eq!(fs::read(copy).unwrap(), file.contents, "{path}");
    }
}

#[test]
fn every_deviation_is_named() {
    let (temp, locked, frozen) = ready();
    frozen.commit(&locked).unwrap();
    assert_eq!(deviations(&locked), []);
    fs::write(temp.path().join("manifests/derived.yaml"), "edited").unwrap();
    fs::remove_file(temp.path().join("manifests/constant.yaml")).unwrap();
    fs::write(temp.path().join("manifests/mine.yaml"), "mine").unwrap();
    let expected = [
        ("manifests/constant.yaml", Deviation::Deleted),
        ("manifests/derived.yaml", Deviation::Changed),
        ("manifests/mine.yaml", Deviation::Added),
    ];
    assert_eq!(deviations(&locked), expected.map(|(path, deviation)| (path.to_owned(), deviation)));
    for path in ["manifests/constant.yaml", "manifests/derived.yaml"] {
        fs::copy(temp.path().join(names::FROZEN_FILES).join(path), temp.path().join(path)).unwrap();
    }
    fs::remove_file(temp.path().join("manifests/mine.yaml")).unwrap();
    assert_eq!(deviations(&locked), []);
    fs::write(temp.path().join(OTHER), "another").unwrap();
    assert_eq!(deviations(&locked), [(OTHER.to_owned(), Deviation::Changed)]);
}

#[test]
fn a_crash_leaves_all_of_it_or_what_was_there_before() {
    let mut states = BTreeMap::new();
    for operation in 0.. {
        let (temp, locked, first) = ready();
        first.commit(&locked).unwrap();
        let disk = FaultyDisk::new(Fault::Crash, operation);
        let _killed = frozen(&locked, "second").commit_on(&locked, &disk);
        let read = locked.dir().frozen().unwrap().expect("one of the two");
        *states.entry(read.config.to_string()).or_insert(0) += 1;
        if read.config == json!("second") {
            let copies = locked.dir().read_directory(".landfall/frozen/manifests").unwrap();
            assert_eq!(copies.len(), read.plan(STAGE, locked.dir()).unwrap().effective().len());
        }
        // The next run writes it down again, whatever this one left.
        frozen(&locked, "third").commit(&locked).unwrap();
        assert_eq!(locked.dir().frozen().unwrap().unwrap().config, json!("third"));
        assert!(!contents(temp.path()).keys().any(|path| path.to_string_lossy().contains(names::TEMPORARY_PREFIX)));
        if !disk.struck() {
            break;
        }
    }
    assert!(states.len() == 2 && states.values().all(|count| *count > 0), "{states:?}");
}

#[test]
fn a_record_that_is_damaged_or_from_elsewhere_is_an_error_with_advice() {
    let (temp, locked, frozen) = ready();
    frozen.commit(&locked).unwrap();
    let path = temp.path().join(names::FROZEN);
    let text = fs::read_to_string(&path).unwrap();
    for (damaged, word) in [
        (text[..text.len() / 2].to_owned(), "damaged"),
        (text.replace("\"format\": 1", "\"format\": 2"), "has format 2"),
        (text.replace("manifests/constant.yaml", "../constant.yaml"), "not a path inside"),
    ] {
        assert_ne!(damaged, text);
        fs::write(&path, damaged).unwrap();
        let error = locked.dir().frozen().unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn moving_out_of_the_way_can_be_cut_short_anywhere() {
    let paths = ["cluster.json", "secrets", "journal.sqlite"].map(|name| format!("{}/{name}", names::STATE_DIRECTORY));
    let paths = [paths[0].as_str(), &paths[1], &paths[2]];
    for moved in 0..=paths.len() {
        let temp = tempfile::tempdir().unwrap();
        let locked = lock(temp.path());
        assert!(!locked.dir().has_past());
        fs::create_dir(locked.dir().path(paths[1])).unwrap();
        for file in [paths[0], &format!("{}/key", paths[1]), paths[2]] {
            fs::write(locked.dir().path(file), file).unwrap();
        }
        locked.retire(&infra_id(), &paths[..moved]).unwrap();
        locked.retire(&infra_id(), &paths).unwrap();
        assert!(locked.dir().has_past());
        for name in ["cluster.json", "secrets/key", "journal.sqlite"] {
            assert!(!locked.dir().path(&format!(".landfall/{name}")).exists(), "{name}");
            assert!(locked.dir().path(&format!(".landfall/past/demo-x7k2p/{name}")).exists(), "{name}");
        }
    }
}
