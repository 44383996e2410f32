//! The `SQLite` file behind a journal.
//!
//! A rollback journal rather than a write-ahead log, because install directories live on network file systems, where the
//! shared memory that a write-ahead log needs does not work. Durability is full: a commit that returned survives a power cut.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use landfall_platform::{InfraId, StepId, StepSpec};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};

use super::{Entry, Failure, JournalError, Made, Record, Snapshot, State};

/// "Land" in ASCII: marks the file as a journal of ours.
const APPLICATION_ID: i64 = 0x4c61_6e64;
const FORMAT: i64 = 1;
/// How long a reader waits for a writer's commit, which takes milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const SCHEMA: &str = "
    CREATE TABLE cluster (infra_id TEXT NOT NULL);
    CREATE TABLE step (
        position INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        spec TEXT NOT NULL,
        state TEXT NOT NULL,
        outputs TEXT,
        failure_class TEXT,
        failure TEXT,
        began TEXT NOT NULL,
        ended TEXT
    );
    CREATE TABLE record (
        sequence INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        step TEXT NOT NULL,
        record TEXT NOT NULL,
        error TEXT
    );
";

pub(super) struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    pub(super) fn open(path: &Path, infra_id: &InfraId) -> Result<Self, JournalError> {
        let store = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        store
            .connection
            .execute_batch("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL;")
            .map_err(|source| store.trouble("open", source))?;
        if store.pragma("application_id")? == 0 && store.is_empty()? {
            store.begin(infra_id)?;
        }
        let found = store.check()?;
        if found != infra_id.as_str() {
            return Err(JournalError::OtherCluster { path: store.path, found, wanted: infra_id.clone() });
        }
        Ok(store)
    }

    pub(super) fn open_read_only(path: &Path) -> Result<Self, JournalError> {
        let store = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        match store.check_begun() {
            Ok(()) => Ok(store),
            // A process died while it wrote, and only somebody who may write can undo what it had begun.
            Err(JournalError::Storage { source, .. }) if needs_rollback(&source) => {
                let store = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
                store.check_begun()?;
                Ok(store)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds records in one transaction: all of them are on disk afterwards, or none is.
    pub(super) fn append<'a>(
        &mut self,
        records: impl Iterator<Item = &'a (StepId, Record)>,
    ) -> Result<(), JournalError> {
        let path = self.path.clone();
        let trouble = |source| trouble(&path, "write", source);
        let transaction = self.connection.transaction().map_err(trouble)?;
        for (step, record) in records {
            let state: Option<String> = transaction
                .prepare_cached("SELECT state FROM step WHERE id = ?1")
                .and_then(|mut query| query.query_row([step.as_str()], |row| row.get(0)).optional())
                .map_err(trouble)?;
            let next = record.next(step, state.as_deref().and_then(State::from_name))?;
            write(&transaction, step, record, next).map_err(trouble)?;
        }
        transaction.commit().map_err(trouble)
    }

    pub(super) fn snapshot(&self) -> Result<Snapshot, JournalError> {
        let infra_id = self.infra_id()?.parse().map_err(|error| self.damaged(&error))?;
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT spec, state, outputs, failure_class, failure, began, ended FROM step ORDER BY position",
            )
            .map_err(|source| self.trouble("read", source))?;
        let rows = query
            .query_map([], |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, Option<String>>(2)?,
                    row.get::<_, Option<String>>(3)?,
                    row.get::<_, Option<String>>(4)?,
                    row.get::<_, String>(5)?,
                    row.get::<_, Option<String>>(6)?,
                ))
            })
            .map_err(|source| self.trouble("read", source))?;
        let made = self.made()?;
        let mut entries = Vec::new();
        for row in rows {
            let (spec, state, outputs, class, failure, began, ended) =
                row.map_err(|source| self.trouble("read", source))?;
            let spec: StepSpec = serde_json::from_str(&spec).map_err(|error| self.damaged(&error))?;
            entries.push(Entry {
                made: made.get(spec.id.as_str()).copied(),
                spec,
                state: State::from_name(&state).ok_or_else(|| self.damaged(&format!("unknown state '{state}'")))?,
                outputs: outputs
                    .map(|outputs| serde_json::from_str(&outputs))
                    .transpose()
                    .map_err(|error| self.damaged(&error))?,
                failure: match (class, failure) {
                    (Some(class), Some(error)) => Some(Failure {
                        class: serde_json::from_value(class.into()).map_err(|error| self.damaged(&error))?,
                        error,
                    }),
                    _ => None,
                },
                began: began.parse().map_err(|error: jiff::Error| self.damaged(&error))?,
                ended: ended
                    .map(|ended| ended.parse())
                    .transpose()
                    .map_err(|error: jiff::Error| self.damaged(&error))?,
            });
        }
        Ok(Snapshot { infra_id, entries })
    }

    /// When each step was last made: the end of the call that succeeded, and its beginning. (With `max`, SQLite takes the
    /// other columns from the row that has it.)
    fn made(&self) -> Result<HashMap<String, Made>, JournalError> {
        let read = |source| self.trouble("read", source);
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT done.step, begun.at, done.at, max(begun.sequence) FROM record AS done JOIN record AS begun
                     ON begun.step = done.step AND begun.record = 'ensure-begins' AND begun.sequence < done.sequence
                 WHERE done.sequence IN (SELECT max(sequence) FROM record WHERE record = 'ensure-done' GROUP BY step)
                 GROUP BY done.step",
            )
            .map_err(read)?;
        let rows = query
            .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)))
            .map_err(read)?;
        let mut made = HashMap::new();
        for row in rows {
            let (step, began, ended) = row.map_err(read)?;
            let time = |text: String| text.parse().map_err(|error: jiff::Error| self.damaged(&error));
            made.insert(step, Made { began: time(began)?, ended: time(ended)? });
        }
        Ok(made)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, JournalError> {
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|source| trouble(path, "open", source))?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(|source| trouble(path, "open", source))?;
        Ok(Self { connection, path: path.to_owned() })
    }

    fn begin(&self, infra_id: &InfraId) -> Result<(), JournalError> {
        let sql = format!(
            "BEGIN; {SCHEMA} INSERT INTO cluster VALUES ('{infra_id}');
             PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; COMMIT;"
        );
        self.connection.execute_batch(&sql).map_err(|source| self.trouble("create", source))
    }

    /// Makes sure that it is a sound journal, and that the process that made the file came to write into it.
    fn check_begun(&self) -> Result<(), JournalError> {
        if self.pragma("application_id")? == 0 && self.is_empty()? {
            return Err(JournalError::NotBegun { path: self.path.clone() });
        }
        self.check().map(drop)
    }

    /// Whose journal it is, once it is sure to be a sound one of a known format.
    fn check(&self) -> Result<String, JournalError> {
        if self.pragma("application_id")? != APPLICATION_ID {
            return Err(self.damaged(&"it was written by another program"));
        }
        let found = self.pragma("user_version")?;
        if found > FORMAT {
            return Err(JournalError::Newer { path: self.path.clone(), found, known: FORMAT });
        }
        let verdict: String = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .map_err(|source| self.trouble("read", source))?;
        if verdict != "ok" {
            return Err(self.damaged(&verdict));
        }
        self.infra_id()
    }

    fn infra_id(&self) -> Result<String, JournalError> {
        self.connection
            .query_row("SELECT infra_id FROM cluster", [], |row| row.get(0))
            .map_err(|source| self.trouble("read", source))
    }

    fn is_empty(&self) -> Result<bool, JournalError> {
        self.connection
            .query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
            .map_err(|source| self.trouble("read", source))
    }

    fn pragma(&self, name: &str) -> Result<i64, JournalError> {
        self.connection.pragma_query_value(None, name, |row| row.get(0)).map_err(|source| self.trouble("read", source))
    }

    fn damaged(&self, detail: &dyn std::fmt::Display) -> JournalError {
        JournalError::Damaged { path: self.path.clone(), detail: detail.to_string() }
    }

    fn trouble(&self, action: &'static str, source: rusqlite::Error) -> JournalError {
        trouble(&self.path, action, source)
    }
}

fn write(
    transaction: &rusqlite::Transaction<'_>,
    step: &StepId,
    record: &Record,
    state: State,
) -> Result<(), rusqlite::Error> {
    let now = Timestamp::now().to_string();
    let error = match record {
        Record::EnsureFailed { error, .. } | Record::RemoveFailed { error, .. } => Some(error),
        _ => None,
    };
    transaction
        .prepare_cached("INSERT INTO record (at, step, record, error) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![now, step.as_str(), record.name(), error])?;
    match record {
        Record::EnsureBegins(spec) | Record::RemoveBegins(spec) => transaction
            .prepare_cached(
                "INSERT INTO step (id, spec, state, began) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (id) DO UPDATE SET spec = ?2, state = ?3, began = ?4,
                     ended = NULL, failure = NULL, failure_class = NULL",
            )?
            .execute(params![step.as_str(), json(spec), state.name(), now]),
        Record::EnsureDone(outputs) => transaction
            .prepare_cached("UPDATE step SET state = ?2, outputs = ?3, ended = ?4 WHERE id = ?1")?
            .execute(params![step.as_str(), state.name(), json(outputs), now]),
        Record::EnsureNotes(outputs) => transaction
            .prepare_cached("UPDATE step SET outputs = ?2 WHERE id = ?1")?
            .execute(params![step.as_str(), json(outputs)]),
        Record::RemoveDone => transaction
            .prepare_cached("UPDATE step SET state = ?2, outputs = NULL, ended = ?3 WHERE id = ?1")?
            .execute(params![step.as_str(), state.name(), now]),
        Record::EnsureFailed { class, error } | Record::RemoveFailed { class, error } => transaction
            .prepare_cached("UPDATE step SET state = ?2, failure_class = ?3, failure = ?4, ended = ?5 WHERE id = ?1")?
            .execute(params![step.as_str(), state.name(), json(class).trim_matches('"'), error, now]),
    }?;
    Ok(())
}

fn needs_rollback(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_READONLY_ROLLBACK)
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("journal values have string keys only")
}

/// `SQLite`'s own words for a broken file, a held lock, and everything else.
fn trouble(path: &Path, action: &'static str, source: rusqlite::Error) -> JournalError {
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            JournalError::Damaged { path: path.to_owned(), detail: source.to_string() }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => JournalError::Busy { path: path.to_owned() },
        _ => JournalError::Storage { action, path: path.to_owned(), source },
    }
}
