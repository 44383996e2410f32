//! A directory, a home and the binary, and shorthands for what tests look at.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use landfall_engine::Journal;
use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_landfall");
pub(crate) const EXAMPLE: &str = include_str!("../../../../examples/ovirt/install-config.yaml");

/// An install directory with the example's install-config, and a home. A failing test keeps both.
pub(crate) struct TestContext {
    temp: TempDir,
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// All files below a directory with their mode and contents.
pub(crate) type Tree = BTreeMap<PathBuf, (u32, String)>;

impl TestContext {
    pub(crate) fn new() -> Self {
        let context = Self::empty();
        context.write("install-config.yaml", EXAMPLE);
        context
    }

    /// Without an install-config.
    pub(crate) fn empty() -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("dir")).unwrap();
        fs::create_dir(temp.path().join("home")).unwrap();
        Self { temp }
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.temp.path().join("dir")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.temp.path().join("home")
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.dir().join(relative)
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap()
    }

    pub(crate) fn write(&self, relative: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(relative), contents).unwrap();
    }

    /// Replaces text that must be there.
    pub(crate) fn replace(&self, relative: &str, from: &str, to: &str) {
        let text = self.read(relative);
        assert!(text.contains(from), "{relative} does not contain '{from}'");
        self.write(relative, text.replace(from, to));
    }

    /// The binary with the directory, in an environment that holds nothing else.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(arguments).arg("--dir").arg(self.dir());
        command.env_clear().env("HOME", self.home()).env("PATH", std::env::var_os("PATH").unwrap());
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// A run that succeeds.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        run
    }

    /// A command as messages name it: it can be pasted in any directory.
    pub(crate) fn named(&self, command: &str) -> String {
        format!("'landfall {command} --dir {}'", self.dir().display())
    }

    pub(crate) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        collect(&self.dir(), &self.dir(), &mut tree);
        tree
    }

    /// The files of the user and of the stages: what a run that fails must leave alone. Log, lock and record are not.
    pub(crate) fn visible_tree(&self) -> Tree {
        let mut tree = self.tree();
        tree.retain(|path, _| !path.starts_with(".landfall"));
        tree
    }

    pub(crate) fn infra_id(&self) -> String {
        let cluster: serde_json::Value = serde_json::from_str(&self.read(".landfall/cluster.json")).unwrap();
        cluster["infraId"].as_str().unwrap().to_owned()
    }

    /// Text without what differs from run to run.
    pub(crate) fn stable(&self, text: &str) -> String {
        let text = text.replace(&*self.temp.path().to_string_lossy(), "[TEMP]");
        let id = self.path(".landfall/cluster.json").exists().then(|| self.infra_id());
        id.map_or_else(|| text.clone(), |id| text.replace(&id, "[INFRA-ID]"))
    }
}

impl Drop for TestContext {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.temp.disable_cleanup(true);
            eprintln!("kept for inspection: {}", self.temp.path().display());
            if let Ok(Some(journal)) = Journal::read_begun(&self.path(".landfall/journal.sqlite")) {
                eprintln!("journal of the installation:");
                for entry in &journal.entries {
                    let failure = entry.failure.as_ref().map(|failure| format!(": {}", failure.error));
                    eprintln!("  {} {}{}", entry.spec.id, entry.state.name(), failure.unwrap_or_default());
                }
            }
        }
    }
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

fn collect(root: &Path, directory: &Path, tree: &mut Tree) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, tree);
        } else {
            let mode = path.metadata().unwrap().permissions().mode() & 0o777;
            let contents = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            tree.insert(path.strip_prefix(root).unwrap().to_owned(), (mode, contents));
        }
    }
}
