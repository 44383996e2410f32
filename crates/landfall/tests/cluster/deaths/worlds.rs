//! The platforms, each with an installation of one master and one worker.

use serde_json::{Value, json};

use super::World;
use crate::{
    context::TestContext,
    engine::Engine,
    install,
    packet::{self, Install},
    place::Place,
    powervm, powervs,
    process::Process,
};

pub(super) struct OnOvirt<'a> {
    engine: Engine<'a>,
    install: install::Install,
}

impl<'a> OnOvirt<'a> {
    pub(super) fn new(place: &'a Place) -> Self {
        let engine = Engine::start(place);
        let install = install::Install::new(&engine, install::Wish::default());
        Self { engine, install }
    }
}

impl World for OnOvirt<'_> {
    fn context(&self) -> &TestContext {
        &self.install.context
    }

    fn start(&self, arguments: &[&str]) -> Process {
        self.install.start(arguments)
    }

    fn machines(&self) -> Vec<String> {
        let id = self.install.infra_id();
        let names =
            self.engine.state()["vms"].as_array().unwrap().iter().map(|vm| text(&vm["name"])).collect::<Vec<_>>();
        names.into_iter().filter(|name| name.starts_with(&id)).collect()
    }

    fn holds(&self) -> Vec<String> {
        let inventory = self.engine.inventory();
        // An inventory numbers what has the same name. Disks may: they are called like that of their template.
        let own_name = |kind, name: &str| match (kind, name.split_once(" (")) {
            ("disks", _) | (_, None) => format!("{kind} {name}"),
            (_, Some((name, _))) => format!("{kind} {name}"),
        };
        let kinds = ["vms", "tags", "affinity_groups", "disks"].into_iter();
        kinds.flat_map(|kind| inventory.names(kind).into_iter().map(move |name| own_name(kind, name))).collect()
    }
}

pub(super) struct OnPacket {
    scene: packet::Scene,
    install: Install,
}

impl OnPacket {
    pub(super) fn new() -> Self {
        let scene = packet::Scene::new(&[]);
        let section = json!({"assetHost": {"landfall": {"listen": scene.place.installer()}}});
        let install = scene.install(&section, 1, 1);
        Self { scene, install }
    }
}

impl World for OnPacket {
    fn context(&self) -> &TestContext {
        &self.install.context
    }

    fn start(&self, arguments: &[&str]) -> Process {
        self.install.start(arguments)
    }

    fn machines(&self) -> Vec<String> {
        let state = self.scene.state();
        let devices = state["devices"].as_array().unwrap().iter();
        devices.filter(|device| device["state"] != "deprovisioning").map(|device| text(&device["hostname"])).collect()
    }

    fn holds(&self) -> Vec<String> {
        self.scene.left().into_iter().chain(self.scene.server.zone(packet::ZONE)).collect()
    }
}

pub(super) struct OnPowervm {
    scene: powervm::Scene,
    install: Install,
}

impl OnPowervm {
    pub(super) fn new() -> Self {
        let scene = powervm::Scene::new();
        let install = scene.install(powervm::Wish { workers: 1, ..powervm::Wish::default() });
        Self { scene, install }
    }
}

impl World for OnPowervm {
    fn context(&self) -> &TestContext {
        &self.install.context
    }

    fn start(&self, arguments: &[&str]) -> Process {
        self.install.start(arguments)
    }

    fn machines(&self) -> Vec<String> {
        let id = self.install.context.infra_id();
        let names = self.scene.partitions().into_iter().map(|(name, _)| name);
        names.filter(|name| name.starts_with(&id)).collect()
    }

    fn holds(&self) -> Vec<String> {
        self.scene.holds().into_iter().collect()
    }
}

pub(super) struct OnPowervs {
    scene: powervs::Scene,
    install: Install,
}

impl OnPowervs {
    pub(super) fn new() -> Self {
        let scene = powervs::Scene::new(&[]);
        let install = scene.install("demo", 1, 1);
        Self { scene, install }
    }
}

impl World for OnPowervs {
    fn context(&self) -> &TestContext {
        &self.install.context
    }

    fn start(&self, arguments: &[&str]) -> Process {
        self.install.start(arguments)
    }

    fn machines(&self) -> Vec<String> {
        let state = self.scene.state();
        let workspaces = state["workspaces"].as_object().unwrap().values();
        let machines = workspaces.flat_map(|workspace| workspace["instances"].as_object().unwrap().values());
        machines.map(|machine| text(&machine["name"])).collect()
    }

    fn holds(&self) -> Vec<String> {
        self.scene.holds().into_iter().chain(self.machines()).collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
