//! A directory with a program in it, and shorthands for what tests look at.

use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::Command,
};

use landfall_assets::{
    Cluster, Credentials,
    openshift::{self, Error, OpenshiftInstall, Program, Rendered, Target, VersionInfo},
};
use landfall_config::InstallConfig;
use landfall_platform::{FileSet, Mode};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/openshift");

/// Keys that all tests share.
const KEYS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/openshift-keys");

/// Runs the stand-in with some environment variables, by way of a script: the environment of the test itself is shared by
/// all tests.
pub(crate) struct Site {
    directory: TempDir,
    pub(crate) config: InstallConfig,
    variables: Vec<(&'static str, String)>,
}

impl Site {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join("scratch")).expect("a directory");
        let text = fs::read(Path::new(FIXTURES).join("install-config.yaml")).expect("the fixture");
        let config = landfall_config::parse(&text).expect("a valid install-config").config;
        Self { directory, config, variables: Vec::new() }
    }

    /// Sets a variable that the stand-in understands.
    pub(crate) fn with(mut self, variable: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((variable, value.into()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        self.path("scratch")
    }

    pub(crate) fn program(&self) -> Program {
        let path = self.path("openshift-install");
        fs::create_dir_all(KEYS).expect("a directory");
        let keys = ("FAKE_KEYS", KEYS.to_owned());
        let variables = self.variables.iter().chain([&keys]).map(|(name, value)| format!("{name}='{value}'"));
        let variables = variables.collect::<Vec<_>>().join(" ");
        let script = format!("#!/bin/sh\nexec env {variables} python3 {FIXTURES}/openshift-install \"$@\"\n");
        let text = self.path("openshift-install.text");
        fs::write(&text, script).expect("a script");
        // Not written by this process: programs that other tests start at this moment would hold it open, and it could not be started.
        let placed = Command::new("install").args(["-m", "755"]).args([&text, &path]).status().expect("install starts");
        assert!(placed.success(), "{placed}");
        Program::new(path, openshift::release_image(self.config.openshift_install.as_ref(), None))
    }

    pub(crate) fn manifests(&self) -> Result<Rendered, Error> {
        self.manifests_again(None)
    }

    pub(crate) fn manifests_again(&self, previous: Option<&Rendered>) -> Result<Rendered, Error> {
        let state = previous.map(|rendered| &rendered.state);
        openshift::manifests(&self.program(), &self.config, Some(&credentials()), state, &self.scratch())
    }

    /// The Ignition configs from manifests that may have been changed since they were rendered.
    pub(crate) fn ignition_configs(&self, rendered: &Rendered, manifests: &FileSet) -> Result<Rendered, Error> {
        let cluster = Cluster { config: &self.config, infra_id: &rendered.infra_id };
        openshift::ignition_configs(&self.program(), &cluster, manifests, &rendered.state, &self.scratch())
    }

    /// What is left in the directory that working copies are made in.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        fs::read_dir(self.scratch()).expect("the directory").map(|entry| entry.expect("an entry").path()).collect()
    }
}

pub(crate) fn credentials() -> Credentials {
    Credentials::from([
        ("ovirt_url".to_owned(), "https://engine.example.com/ovirt-engine/api".to_owned()),
        ("ovirt_password".to_owned(), "correct horse".to_owned()),
    ])
}

pub(crate) fn text(files: &FileSet, path: &str) -> String {
    let file = files.get(path).unwrap_or_else(|| panic!("no file {path} among {:?}", paths(files)));
    String::from_utf8(file.contents.clone()).expect("text")
}

pub(crate) fn json(files: &FileSet, path: &str) -> Value {
    serde_json::from_str(&text(files, path)).expect("JSON")
}

pub(crate) fn yaml(files: &FileSet, path: &str) -> Value {
    serde_saphyr::from_str(&text(files, path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn paths(files: &FileSet) -> BTreeSet<&str> {
    files.iter().map(|(path, _)| path).collect()
}

pub(crate) fn mode(files: &FileSet, path: &str) -> Mode {
    files.get(path).unwrap_or_else(|| panic!("no file {path}")).mode
}

/// The decoded contents of a file in an Ignition config.
pub(crate) fn ignition_file(config: &Value, path: &str) -> Option<Vec<u8>> {
    let files = config["storage"]["files"].as_array().expect("files");
    let contents = &files.iter().find(|file| file["path"] == path)?["contents"];
    let source = data_url::DataUrl::process(contents["source"].as_str().unwrap_or("data:,")).expect("a data URL");
    let data = source.decode_to_vec().expect("its data").0;
    if contents["compression"] != "gzip" {
        return Some(data);
    }
    let mut decompressed = Vec::new();
    flate2::read::GzDecoder::new(data.as_slice()).read_to_end(&mut decompressed).expect("compressed data");
    Some(decompressed)
}

/// Has the real Ignition judge a config.
pub(crate) fn validate_ignition(name: &str, config: &[u8]) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(name);
    fs::write(&path, config).expect("a file");
    let output = Command::new("ignition-validate")
        .arg(&path)
        .output()
        .expect("ignition-validate must be installed (Debian package ignition)");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{name}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A program that looks around in the directory it is given, and then leaves the work to another.
pub(crate) struct Spy<'a> {
    pub(crate) inner: Program,
    pub(crate) look: &'a dyn Fn(Target, &Path),
}

impl OpenshiftInstall for Spy<'_> {
    fn version(&self) -> Result<VersionInfo, Error> {
        self.inner.version()
    }

    fn create(&self, target: Target, directory: &Path) -> Result<Vec<String>, Error> {
        (self.look)(target, directory);
        self.inner.create(target, directory)
    }
}
