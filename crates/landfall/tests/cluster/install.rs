//! An install directory, and the program that is run in it.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use landfall_engine::{Journal, Snapshot};

use crate::{
    context::{EXAMPLE, Run, TestContext},
    engine::Engine,
    place::Place,
    process::Process,
};

/// What differs between the clusters of the tests.
#[derive(Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) name: &'a str,
    /// Which of the pairs of virtual addresses.
    pub(crate) number: u8,
    pub(crate) masters: u32,
    pub(crate) workers: u32,
}

impl Default for Wish<'_> {
    /// The smallest cluster that has all kinds of machines.
    fn default() -> Self {
        Self { name: "demo", number: 0, masters: 1, workers: 1 }
    }
}

impl Wish<'_> {
    /// The example with these wishes.
    fn config(&self, place: &Place) -> String {
        let mut config: serde_json::Value = serde_saphyr::from_str(EXAMPLE).unwrap();
        let [api, ingress] = place.vips(self.number).map(|vip| vip.to_string());
        config["metadata"]["name"] = self.name.into();
        config["controlPlane"]["replicas"] = self.masters.into();
        config["compute"][0]["replicas"] = self.workers.into();
        config["networking"]["machineNetwork"][0]["cidr"] = place.cidr().into();
        config["platform"]["ovirt"]["api_vips"] = [api].as_slice().into();
        config["platform"]["ovirt"]["ingress_vips"] = [ingress].as_slice().into();
        serde_saphyr::to_string(&config).unwrap()
    }
}

/// An install directory, and a home with credentials for an engine. A failing test keeps both.
pub(crate) struct Install {
    pub(crate) context: TestContext,
    /// Environment variables of the program.
    pub(crate) variables: Vec<(&'static str, String)>,
    runs: AtomicU32,
}

impl Install {
    pub(crate) fn new(engine: &Engine<'_>, wish: Wish<'_>) -> Self {
        let install = Self::empty(engine);
        install.context.write("install-config.yaml", wish.config(engine.place()));
        install
    }

    /// Without an install-config.
    pub(crate) fn empty(engine: &Engine<'_>) -> Self {
        let install = Self { context: TestContext::empty(), variables: Vec::new(), runs: AtomicU32::new(0) };
        install.set_credentials(&engine.credentials());
        install
    }

    /// The same directory once more, for an engine in the same place.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self { context: TestContext::empty(), variables: Vec::new(), runs: AtomicU32::new(0) };
        copy_tree(&self.context.dir(), &copy.context.dir());
        copy_tree(&self.context.home(), &copy.context.home());
        copy
    }

    pub(crate) fn set_credentials(&self, text: &str) {
        let file = self.credentials_file();
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub(crate) fn credentials_file(&self) -> PathBuf {
        self.context.home().join("credentials.yaml")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.context.command(arguments);
        command.env("OVIRT_CONFIG", self.credentials_file());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Process {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        Process::start(self.command(arguments), self.context.home().join(format!("run-{number}")))
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.start(arguments).wait()
    }

    /// A run that succeeds.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        run
    }

    /// A run that ends with an exit code other than 0.
    pub(crate) fn fails(&self, arguments: &[&str], code: i32) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        run.stderr
    }

    pub(crate) fn create(&self) -> Run {
        self.ok(&["create", "cluster"])
    }

    pub(crate) fn destroy(&self) -> Run {
        self.ok(&["destroy", "cluster"])
    }

    pub(crate) fn infra_id(&self) -> String {
        self.context.infra_id()
    }

    pub(crate) fn journal(&self) -> Snapshot {
        Journal::read(&self.context.path(".landfall/journal.sqlite")).unwrap()
    }
}

/// Copies files and directories with their modes.
fn copy_tree(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let source = entry.unwrap().path();
        let target = to.join(source.file_name().unwrap());
        if source.is_dir() {
            fs::create_dir(&target).unwrap();
            copy_tree(&source, &target);
            fs::set_permissions(&target, source.metadata().unwrap().permissions()).unwrap();
        } else {
            fs::copy(&source, &target).unwrap();
        }
    }
}
