//! A run that is cut short at each of its operations.

use std::{collections::BTreeMap, fs, path::PathBuf};

use tempfile::TempDir;

use super::{
    Source, commit, contents,
    faulty_disk::{Fault, FaultyDisk},
    lock, plan,
};
use crate::{Choice, Choices, Error, FileRecord, disk::Os};

const OLD: Source = Source { config: 1, nonce: 0 };
const NEW: Source = Source { config: 2, nonce: 1 };
const EDIT: &str = "derived 1, and edited";

/// A directory with a complete stage, of which the user edited one file, deleted one and added one.
fn used_directory() -> TempDir {
    let temp = tempfile::tempdir().unwrap();
    let locked = lock(temp.path());
    commit(&locked, &plan(&locked, OLD, &Choices::default()).unwrap(), &Os).unwrap();
    fs::write(temp.path().join("manifests/derived.yaml"), EDIT).unwrap();
    fs::remove_file(temp.path().join("manifests/constant.yaml")).unwrap();
    fs::write(temp.path().join("manifests/mine.yaml"), "mine").unwrap();
    temp
}

fn regenerate() -> Choices {
    Choices::for_all(Choice::Regenerate)
}

fn relative(temp: &TempDir) -> BTreeMap<PathBuf, String> {
    let files = contents(temp.path()).into_iter();
    files.map(|(path, text)| (path.strip_prefix(temp.path()).unwrap().to_owned(), text)).collect()
}

/// The files that matter at the end: all but the record, which holds times, and the backups, whose number depends on
/// how often the run was started.
fn result(temp: &TempDir) -> BTreeMap<PathBuf, String> {
    let mut files = relative(temp);
    files.retain(|path, _| !path.starts_with(".landfall"));
    files
}

/// Runs `check` with a disk that fails at operation 0, 1, 2, … until a run gets through unharmed; returns how many.
fn at_each_operation(fault: Fault, mut check: impl FnMut(&FaultyDisk)) -> usize {
    for operation in 0.. {
        let disk = FaultyDisk::new(fault, operation);
        check(&disk);
        if !disk.struck() {
            return operation;
        }
    }
    unreachable!("a run has an end")
}

#[test]
fn a_first_run_that_was_killed_is_finished_by_the_next() {
    let operations = at_each_operation(Fault::Crash, |disk| {
        let temp = tempfile::tempdir().unwrap();
        let locked = lock(temp.path());
        let _killed = commit(&locked, &plan(&locked, OLD, &Choices::default()).unwrap(), disk);
        let again = plan(&locked, Source { nonce: 9, ..OLD }, &Choices::default()).unwrap();
        commit(&locked, &again, &Os).unwrap();
        let expected = again.effective();
        assert_eq!(result(&temp).len(), expected.len(), "no file too many, none too few");
        for (path, file) in expected.iter() {
            assert_eq!(fs::read(temp.path().join(path)).unwrap(), file.contents, "{path}");
        }
    });
    assert!(operations > 10, "{operations}");
}

#[test]
fn a_later_run_that_was_killed_loses_nothing_and_is_finished_by_the_next() {
    let expected = {
        let temp = used_directory();
        let locked = lock(temp.path());
        commit(&locked, &plan(&locked, NEW, &regenerate()).unwrap(), &Os).unwrap();
        result(&temp)
    };
    let operations = at_each_operation(Fault::Crash, |disk| {
        let temp = used_directory();
        let before = relative(&temp);
        let locked = lock(temp.path());
        let _killed = commit(&locked, &plan(&locked, NEW, &regenerate()).unwrap(), disk);

        for (path, text) in result(&temp) {
            let whole = before.get(&path) == Some(&text) || expected.get(&path) == Some(&text);
            let temporary = path.to_string_lossy().contains(crate::names::TEMPORARY_PREFIX);
            assert!(whole || temporary, "{} was torn: {text}", path.display());
        }
        assert!(contents(temp.path()).values().any(|text| text == EDIT), "the edit is lost");

        commit(&locked, &plan(&locked, NEW, &regenerate()).unwrap(), &Os).unwrap();
        assert_eq!(result(&temp), expected);
        assert!(contents(temp.path()).values().any(|text| text == EDIT), "the edit is lost in the end");
        let record = locked.dir().record().unwrap();
        let stage = record.stage("manifests").unwrap();
        assert!(stage.complete);
        assert_eq!(stage.files["manifests/constant.yaml"], FileRecord::Deleted);
    });
    assert!(operations > 10, "{operations}");
}

#[test]
fn what_was_decided_before_a_crash_need_not_be_decided_again() {
    let mut unasked = 0;
    at_each_operation(Fault::Crash, |disk| {
        let temp = used_directory();
        let locked = lock(temp.path());
        let _killed = commit(&locked, &plan(&locked, NEW, &regenerate()).unwrap(), disk);
        let recorded = locked.dir().record().unwrap();
        let begun = !recorded.stage("manifests").unwrap().complete;
        if begun {
            let again = plan(&locked, NEW, &Choices::default()).expect("the choice was recorded");
            commit(&locked, &again, &Os).unwrap();
            assert_eq!(fs::read_to_string(temp.path().join("manifests/derived.yaml")).unwrap(), "derived 2");
            assert!(!temp.path().join("manifests/sometimes.yaml").exists());
            unasked += 1;
        }
    });
    assert!(unasked > 3, "{unasked}");
}

#[test]
fn a_full_disk_leaves_the_directory_as_it_was() {
    let mut untouched = 0;
    at_each_operation(Fault::Full, |disk| {
        let temp = used_directory();
        let before = relative(&temp);
        let locked = lock(temp.path());
        let outcome = commit(&locked, &plan(&locked, NEW, &regenerate()).unwrap(), disk);
        if !disk.struck() {
            outcome.unwrap();
            return;
        }
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::Write { .. }), "{error}");
        assert!(error.hint().unwrap().contains("free some space"));
        let after = relative(&temp);
        assert!(!after.keys().any(|path| path.to_string_lossy().contains(crate::names::TEMPORARY_PREFIX)));
        // Renaming allocates nothing, so a disk that is really full fails before the first file is replaced.
        let record = PathBuf::from(crate::names::RECORD);
        if after[&record] == before[&record] {
            assert_eq!(after, before);
            assert!(!temp.path().join(".landfall/backup").exists());
            untouched += 1;
        }
    });
    assert!(untouched > 8, "{untouched}");
}

#[test]
fn the_second_of_two_equal_runs_writes_nothing() {
    let temp = used_directory();
    let locked = lock(temp.path());
    commit(&locked, &plan(&locked, NEW, &regenerate()).unwrap(), &Os).unwrap();
    let before = relative(&temp);
    let committed = commit(&locked, &plan(&locked, NEW, &Choices::default()).unwrap(), &Os).unwrap();
    assert!(!committed.changed);
    assert_eq!(relative(&temp), before);
}

#[test]
fn two_backups_in_one_second_do_not_meet() {
    let temp = used_directory();
    let locked = lock(temp.path());
    let first = commit(&locked, &plan(&locked, NEW, &regenerate()).unwrap(), &Os).unwrap();
    fs::write(temp.path().join("manifests/derived.yaml"), "edited again").unwrap();
    let newer = Source { config: 3, nonce: 1 };
    let second = commit(&locked, &plan(&locked, newer, &regenerate()).unwrap(), &Os).unwrap();
    assert_eq!(first.backup.as_deref(), Some(".landfall/backup/19700101T000000Z"));
    assert_eq!(second.backup.as_deref(), Some(".landfall/backup/19700101T000000Z-2"));
    let text =
        |directory: &str| fs::read_to_string(temp.path().join(directory).join("manifests/derived.yaml")).unwrap();
    assert_eq!(text(&first.backup.unwrap()), EDIT);
    assert_eq!(text(&second.backup.unwrap()), "edited again");
}
