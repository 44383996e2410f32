//! Tests of the whole: crashes at every operation, and stories of users and runs that take turns.

mod crash;
mod faulty_disk;
mod frozen;
mod story;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use landfall_platform::{File, FileSet};

use crate::{
    Choices, Committed, Digest, Evaluation, Holder, Inputs, Locked, Membership, Plan, Rendering, Result, Stage,
    Transaction, Unsettled, WorkDir, disk::Disk,
};

const STAGE: Stage = Stage { name: "manifests", membership: Membership::Open { directories: &["manifests"] } };

/// What a run derives from: its one input, and a nonce in the place of certificates that are issued on each run.
#[derive(Clone, Copy, Debug)]
struct Source {
    config: u8,
    nonce: u8,
}

/// Files that depend on the input, on nothing, on the nonce, and one that exists only for some inputs.
fn render(source: Source) -> Rendering {
    Rendering::with_template(files(source), &files(Source { nonce: 0, ..source }))
}

fn files(source: Source) -> FileSet {
    let Source { config, nonce } = source;
    let mut files = FileSet::default();
    files.insert("manifests/constant.yaml", File::public("constant"));
    files.insert("manifests/derived.yaml", File::public(format!("derived {config}")));
    files.insert("manifests/certificate.yaml", File::private(format!("certificate {config} {nonce}")));
    if config % 2 == 1 {
        files.insert("manifests/sometimes.yaml", File::public(format!("sometimes {config}")));
    }
    files
}

fn lock(root: &Path) -> Locked {
    let holder = Holder {
        pid: 1,
        host: "host".to_owned(),
        command: "create manifests".to_owned(),
        since: Timestamp::UNIX_EPOCH,
    };
    WorkDir::open(root).unwrap().lock(&holder).unwrap()
}

fn plan(locked: &Locked, source: Source, choices: &Choices) -> Result<Plan, Unsettled> {
    let rendered = render(source);
    let record = locked.dir().record().unwrap();
    let record = record.stage(STAGE.name);
    let on_disk = locked.dir().sight(STAGE, record, rendered.files()).unwrap();
    Evaluation::new(STAGE, record, &on_disk, &rendered, inputs(source)).settle(choices)
}

fn keep(locked: &Locked, source: Source) -> Option<Plan> {
    let record = locked.dir().record().unwrap();
    let record = record.stage(STAGE.name);
    let on_disk = locked.dir().sight(STAGE, record, &FileSet::default()).unwrap();
    Plan::keep(STAGE, record, &on_disk, &inputs(source), &Choices::default())
}

fn inputs(source: Source) -> Inputs {
    Inputs::default().with("install-config.yaml", Digest::of([source.config]))
}

fn commit(locked: &Locked, plan: &Plan, disk: &dyn Disk) -> Result<Committed> {
    let mut transaction = Transaction::begin(locked, Timestamp::UNIX_EPOCH, "0.1.0").unwrap();
    transaction.stage(plan);
    transaction.commit_on(disk)
}

/// All files below a directory, except the lock.
fn contents(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else if path.file_name().unwrap() != "lock" {
            found.insert(path.clone(), fs::read_to_string(path).unwrap());
        }
    }
    found
}
