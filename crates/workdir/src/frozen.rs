//! What was handed out to machines: `.landfall/frozen.json`, and copies of the files under `.landfall/frozen`.
//!
//! Machines pin what they are given: a digest of a config, an authority, an address. So everything that is given to them is
//! written down before the first of them is made, and every later run uses exactly those bytes. The record alone says nothing
//! about whether anything was made; that is in the journal, whose first record comes after the commit of this one. A record
//! that a run left behind when it died in between is replaced by the next.

use std::{collections::BTreeMap, fmt, fs, io};

use jiff::Timestamp;
use landfall_platform::{File, FileSet, InfraId};
use serde::{Deserialize, Serialize};

use crate::{
    Digest, Error, Locked, Plan, Result, Stage, Transaction, WorkDir,
    disk::{Disk, Os},
    names,
};

const FORMAT: u32 = 1;

/// What was handed out to the machines of one cluster.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Frozen {
    format: u32,
    /// The cluster.
    pub infra_id: InfraId,
    /// When it was frozen.
    pub frozen_at: Timestamp,
    /// The version of Landfall that did it.
    pub written_by: String,
    /// The install-config by its meaning.
    pub config: serde_json::Value,
    /// Digest of the install-config as the user wrote it.
    pub source: Option<Digest>,
    /// Digest of the platform's credentials in the manifests.
    pub credentials: Digest,
    /// What machines were told that is in no file, by a name that users understand.
    pub told: BTreeMap<String, String>,
    /// The files of each stage.
    stages: BTreeMap<String, BTreeMap<String, Digest>>,
    /// Files of no stage.
    others: BTreeMap<String, Digest>,
    /// The contents, until they are written.
    #[serde(skip)]
    files: FileSet,
}

/// The install-config and what machines were told may be secret.
impl fmt::Debug for Frozen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frozen").field("infra_id", &self.infra_id).field("stages", &self.stages).finish_non_exhaustive()
    }
}

/// How a file differs from what was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// It has other contents.
    Changed,
    /// It is not there.
    Deleted,
    /// It was not there.
    Added,
}

impl Deviation {
    /// The deviation in words that follow on the name of the file.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Changed => "was changed",
            Self::Deleted => "was deleted",
            Self::Added => "was added",
        }
    }
}

/// The part of the document that every format shares.
#[derive(Deserialize)]
struct Header {
    format: u32,
}

impl Frozen {
    /// Begins with what is in no file of a stage.
    pub fn new(
        infra_id: InfraId,
        frozen_at: Timestamp,
        written_by: impl Into<String>,
        config: serde_json::Value,
        credentials: Digest,
    ) -> Self {
        Self {
            format: FORMAT,
            infra_id,
            frozen_at,
            written_by: written_by.into(),
            config,
            source: None,
            credentials,
            told: BTreeMap::new(),
            stages: BTreeMap::new(),
            others: BTreeMap::new(),
            files: FileSet::default(),
        }
    }

    /// Adds the files of a stage as they will be used.
    pub fn add_stage(&mut self, plan: &Plan) {
        let files = plan.effective();
        let digests = files.iter().map(|(path, file)| (path.to_owned(), Digest::of(&file.contents)));
        self.stages.insert(plan.stage().name.to_owned(), digests.collect());
        self.files.extend(files);
    }

    /// Adds a file of no stage.
    pub fn add_file(&mut self, path: &str, file: File) {
        self.others.insert(path.to_owned(), Digest::of(&file.contents));
        self.files.insert(path, file);
    }

    /// Writes the record and the copies. All of it is on stable storage when this returns.
    pub fn commit(&self, locked: &Locked) -> Result<()> {
        self.commit_on(locked, &Os)
    }

    pub(crate) fn commit_on(&self, locked: &Locked, disk: &dyn Disk) -> Result<()> {
        let dir = locked.dir();
        // Of a run that died before anything was made: its copies need not be those of this one.
        remove_directory(dir, names::FROZEN_FILES)?;
        let mut transaction = Transaction::begin(locked, self.frozen_at, self.written_by.as_str())?;
        for (path, file) in self.files.iter() {
            transaction.write(format!("{}/{path}", names::FROZEN_FILES), file.clone());
        }
        let mut bytes = serde_json::to_vec_pretty(self).expect("a record is plain data with text keys");
        bytes.push(b'\n');
        transaction.write(names::FROZEN, File::private(bytes));
        transaction.commit_on(disk).map(drop)
    }

    /// The plan of a stage that was handed out: its files stay as they are. An error if one of them is not what it was.
    pub fn plan(&self, stage: Stage, dir: &WorkDir) -> Result<Plan> {
        let files = self
            .stages
            .get(stage.name)
            .ok_or_else(|| Error::FrozenDamaged { why: format!("it does not list the files of {}", stage.name) })?;
        let mut on_disk = FileSet::default();
        for path in files.keys() {
            on_disk.extend(dir.read(path)?.map(|file| (path.clone(), file)).into_iter().collect());
        }
        let mut deviations = deviations(files, &on_disk);
        let there = dir.sight(stage, None, &FileSet::default())?;
        let added = there.iter().filter(|(path, _)| !files.contains_key(*path));
        deviations.extend(added.map(|(path, _)| (path.to_owned(), Deviation::Added)));
        refuse(deviations)?;
        Ok(Plan::frozen(stage, &on_disk))
    }

    /// Makes sure that the files of no stage are what they were.
    pub fn check_others(&self, dir: &WorkDir) -> Result<()> {
        let mut on_disk = FileSet::default();
        for path in self.others.keys() {
            on_disk.extend(dir.read(path)?.map(|file| (path.clone(), file)).into_iter().collect());
        }
        refuse(deviations(&self.others, &on_disk))
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        let damaged = |source: serde_json::Error| Error::FrozenDamaged { why: source.to_string() };
        let header: Header = serde_json::from_slice(bytes).map_err(damaged)?;
        if header.format != FORMAT {
            return Err(Error::FrozenFormat { found: header.format, known: FORMAT });
        }
        let frozen: Self = serde_json::from_slice(bytes).map_err(damaged)?;
        let paths = frozen.stages.values().flat_map(BTreeMap::keys).chain(frozen.others.keys());
        match paths.into_iter().find(|path| !names::is_inside(path)) {
            Some(path) => {
                Err(Error::FrozenDamaged { why: format!("'{path}' is not a path inside the install directory") })
            }
            None => Ok(frozen),
        }
    }
}

impl WorkDir {
    /// Returns what was handed out to machines, if the last run came so far.
    pub fn frozen(&self) -> Result<Option<Frozen>> {
        self.read(names::FROZEN)?.map(|file| Frozen::parse(&file.contents)).transpose()
    }
}

fn deviations(expected: &BTreeMap<String, Digest>, on_disk: &FileSet) -> Vec<(String, Deviation)> {
    let deviation = |(path, digest): (&String, &Digest)| {
        let deviation = match on_disk.get(path) {
            None => Deviation::Deleted,
            Some(file) if Digest::of(&file.contents) != *digest => Deviation::Changed,
            Some(_) => return None,
        };
        Some((path.clone(), deviation))
    };
    expected.iter().filter_map(deviation).collect()
}

fn refuse(files: Vec<(String, Deviation)>) -> Result<()> {
    if files.is_empty() { Ok(()) } else { Err(Error::NotAsHandedOut { files }) }
}

fn remove_directory(dir: &WorkDir, path: &str) -> Result<()> {
    let path = dir.path(path);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::Write { path, source: error }),
        _ => Ok(()),
    }
}
