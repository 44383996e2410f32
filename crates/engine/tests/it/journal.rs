//! The journal file: what it refuses, and who may read it.

use std::{fs, io::Write, time::Duration};

use landfall_engine::{Journal, JournalError, Record, State};
use landfall_platform::{InfraId, Outputs, StepSpec};

fn id(text: &str) -> InfraId {
    text.parse().unwrap()
}

fn spec(name: &str) -> StepSpec {
    StepSpec {
        id: name.into(),
        title: name.to_owned(),
        kind: "thing".into(),
        needs: Vec::new(),
        timeout: Duration::from_secs(1),
        desired: serde_json::json!({}),
    }
}

#[tokio::test]
async fn records_survive_and_can_be_read_while_it_is_open() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("journal");
    let journal = Journal::open(&path, &id("demo-bcdfg")).unwrap();
    journal.record("a".into(), Record::EnsureBegins(Box::new(spec("a")))).await.unwrap();
    let outside = Journal::read(&path).unwrap();
    assert_eq!(outside.entry(&"a".into()).unwrap().state, State::Ensuring);
    journal.record("a".into(), Record::EnsureDone(Outputs::default().with("id", "x"))).await.unwrap();
    drop(journal);
    let again = Journal::open(&path, &id("demo-bcdfg")).unwrap().snapshot().await.unwrap();
    let entry = again.entry(&"a".into()).unwrap();
    assert_eq!(entry.outputs.as_ref().unwrap().get::<String>("id").as_deref(), Some("x"));
    assert!(entry.ended.unwrap() >= entry.began);
}

/// A run that is cut off leaves records on their way. They must not arrive after the next run has looked.
#[tokio::test]
async fn what_was_sent_is_written_when_the_journal_is_dropped() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("journal");
    for round in 0..50 {
        let name = format!("step-{round}");
        let journal = Journal::open(&path, &id("demo-bcdfg")).unwrap();
        {
            // Polled once, so it is sent; then cut off.
            let record = journal.record(name.as_str().into(), Record::EnsureBegins(Box::new(spec(&name))));
            assert!(futures::FutureExt::now_or_never(record).is_none_or(|result| result.is_ok()));
        }
        drop(journal);
        let seen = Journal::open(&path, &id("demo-bcdfg")).unwrap().snapshot().await.unwrap();
        assert!(seen.entry(&name.as_str().into()).is_some(), "{name} arrives late");
    }
}

#[tokio::test]
async fn an_end_without_a_beginning_is_refused_and_closes_the_journal() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(&home.path().join("journal"), &id("demo-bcdfg")).unwrap();
    let error = journal.record("a".into(), Record::RemoveDone).await.unwrap_err();
    assert!(matches!(error, JournalError::Illegal(_)), "{error}");
    let error = journal.record("a".into(), Record::EnsureBegins(Box::new(spec("a")))).await.unwrap_err();
    assert!(matches!(error, JournalError::Closed { .. }), "{error}");
}

#[test]
fn foreign_damaged_and_other_clusters_files_are_told_apart() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("journal");
    fs::write(&path, b"this is not a database, but it is long enough to be looked at closely........................")
        .unwrap();
    assert!(matches!(Journal::read(&path), Err(JournalError::Damaged { .. })));
    assert!(matches!(Journal::open(&path, &id("demo-bcdfg")), Err(JournalError::Damaged { .. })));
    fs::remove_file(&path).unwrap();

    drop(Journal::open(&path, &id("demo-bcdfg")).unwrap());
    assert!(matches!(Journal::open(&path, &id("other-bcdfg")), Err(JournalError::OtherCluster { .. })));

    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(fs::metadata(&path).unwrap().len() / 2).unwrap();
    file.flush().unwrap();
    assert!(matches!(Journal::open(&path, &id("demo-bcdfg")), Err(JournalError::Damaged { .. })));
    assert!(matches!(Journal::read(&home.path().join("missing")), Err(JournalError::Storage { .. })));
}

#[tokio::test]
async fn what_a_writer_left_half_written_when_it_died_does_not_keep_others_from_reading() {
    let home = tempfile::tempdir().unwrap();
    let [path, left] = ["journal", "left"].map(|name| home.path().join(name));
    let journal = Journal::open(&path, &id("demo-bcdfg")).unwrap();
    journal.record("a".into(), Record::EnsureBegins(Box::new(spec("a")))).await.unwrap();
    drop(journal);

    let writer = rusqlite::Connection::open(&path).unwrap();
    // Puts changes into the file before they are committed, as a larger transaction would.
    writer
        .execute_batch("PRAGMA cache_spill = 1; PRAGMA cache_size = 1; BEGIN; UPDATE step SET state = 'done';")
        .unwrap();
    for _ in 0..100 {
        writer.execute("INSERT INTO record (at, step, record) VALUES ('', ?1, '')", ["x".repeat(1000)]).unwrap();
    }
    for suffix in ["", "-journal"] {
        let file = |path: &std::path::Path| std::path::PathBuf::from(format!("{}{suffix}", path.display()));
        fs::copy(file(&path), file(&left)).unwrap();
    }
    assert_eq!(Journal::read(&left).unwrap().entry(&"a".into()).unwrap().state, State::Ensuring);
}

/// A process that is killed while it begins its journal leaves an empty file, with or without a rollback journal beside it.
#[tokio::test]
async fn a_file_that_a_killed_process_only_made_is_no_damage() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("journal");
    assert!(Journal::read_begun(&path).unwrap().is_none());
    fs::write(&path, "").unwrap();
    assert!(matches!(Journal::read(&path), Err(JournalError::NotBegun { .. })));
    assert!(Journal::read_begun(&path).unwrap().is_none());
    let journal = Journal::open(&path, &id("demo-bcdfg")).unwrap();
    assert!(journal.snapshot().await.unwrap().entries.is_empty());
    assert!(Journal::read_begun(&path).unwrap().is_some());
}
