//! The template and the machines in the engine.

use landfall_platform::Finding;
use serde_json::Value;

use crate::{Inventory, Machine, Made, MadeMachine, Profile};

const CHECK: &str = "ovirt";
/// The operating system type with which an engine hands Ignition configs over unchanged.
const IGNITION_OS: &str = "rhcos_x64";
const VMS: &str = "ansible-playbook -i inventory.yml vms.yml";

/// What an engine holds of a cluster.
#[derive(Clone, Debug, Default)]
pub struct OvirtView {
    /// The template, if it is there.
    pub template: Option<TemplateView>,
    /// The machines whose names begin with the infra id.
    pub machines: Vec<VmView>,
}

/// A template.
#[derive(Clone, Debug, Default)]
pub struct TemplateView {
    /// `ok`, `locked` or `illegal`.
    pub status: String,
    /// Its operating system type.
    pub os: String,
    /// How many disks it has.
    pub disks: usize,
}

/// A machine.
#[derive(Clone, Debug, Default)]
pub struct VmView {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Whether it carries the cluster's tag.
    pub is_tagged: bool,
    /// Whether it is switched off.
    pub is_down: bool,
    /// Its operating system type.
    pub os: String,
    /// Its memory.
    pub memory_mib: u64,
    /// Its processors: sockets, cores and threads.
    pub topology: (u32, u32, u32),
    /// The size of the disk that it boots from.
    pub os_disk_gib: Option<u64>,
    /// The hardware addresses of its network interfaces.
    pub macs: Vec<String>,
    /// The Ignition config that it was given, if it was given one.
    pub ignition: Option<String>,
}

impl OvirtView {
    /// The machines by their hardware addresses, for the judgement of reservations.
    pub fn made(&self) -> Made {
        let made = self.machines.iter().filter_map(|vm| {
            let mac = vm.macs.first()?.to_lowercase();
            Some(MadeMachine { name: vm.name.clone(), mac })
        });
        Made { machines: made.collect() }
    }
}

/// Compares an engine with the inventory. `config` is a machine's Ignition config in the kit.
pub fn ovirt(inventory: &Inventory, view: &OvirtView, config: impl Fn(&Machine) -> Option<String>) -> Vec<Finding> {
    let mut findings = template(inventory, view);
    for machine in &inventory.machines {
        match view.machines.iter().find(|vm| vm.name == machine.name) {
            Some(vm) => findings.extend(of_machine(inventory, machine, vm, config(machine).as_deref())),
            None => findings.push(Finding::problem(CHECK, format!("there is no machine {}", machine.name), VMS)),
        }
    }
    if findings.is_empty() {
        let count = inventory.machines.len();
        findings.push(Finding::ok(CHECK, format!("the template and all {count} machines are as the inventory says")));
    }
    findings
}

fn template(inventory: &Inventory, view: &OvirtView) -> Vec<Finding> {
    let name = &inventory.image.template;
    let problem = |text: String, hint: &str| vec![Finding::problem(CHECK, text, hint)];
    match &view.template {
        None => problem(format!("there is no template {name}"), "ansible-playbook -i inventory.yml image.yml"),
        Some(template) if template.status != "ok" => problem(
            format!("template {name} is {}", template.status),
            "wait until it is ok, or remove it and run image.yml",
        ),
        Some(template) if template.disks != 1 => {
            let text = format!("template {name} has {} disks, and machines boot from one", template.disks);
            problem(text, "name another template in image.template, or an image.source to make one of")
        }
        // Machines are made with the right type whatever the template has.
        Some(template) if template.os != IGNITION_OS => vec![Finding::notice(
            CHECK,
            format!("template {name} has operating system type {}", template.os),
            format!("machines are made with {IGNITION_OS} all the same"),
        )],
        Some(_) => Vec::new(),
    }
}

fn of_machine(inventory: &Inventory, machine: &Machine, vm: &VmView, config: Option<&str>) -> Vec<Finding> {
    let name = &machine.name;
    let mut findings = Vec::new();
    let mut wrong = |text: String, hint: String| findings.push(Finding::problem(CHECK, text, hint));
    if !vm.description.trim_end().ends_with(&format!("[landfall:{}]", inventory.infra_id)) {
        let hint = "rename or remove it, or choose another name in inventory.yml".to_owned();
        wrong(format!("machine {name} does not carry the mark of {}: it is somebody else's", inventory.infra_id), hint);
        return findings;
    }
    if !vm.is_tagged {
        wrong(format!("machine {name} does not carry the tag {}", inventory.infra_id), VMS.to_owned());
    }
    if vm.os != IGNITION_OS {
        let text = format!(
            "machine {name} has operating system type {}: the engine would hand it cloud-init, not Ignition",
            vm.os
        );
        wrong(text, format!("set it to {IGNITION_OS}: {VMS}"));
    }
    if let Some(profile) = inventory.profiles.get(&machine.profile) {
        for (what, seen, wanted) in sizes(vm, profile) {
            wrong(format!("machine {name} has {seen} {what} instead of {wanted}"), VMS.to_owned());
        }
    }
    match vm.macs.as_slice() {
        [] => wrong(format!("machine {name} has no network interface"), VMS.to_owned()),
        [mac] if !machine.mac.is_empty() && !mac.eq_ignore_ascii_case(&machine.mac) => {
            wrong(format!("machine {name} has hardware address {mac} instead of {}", machine.mac), VMS.to_owned());
        }
        [_] => {}
        [first, ..] => {
            let text = format!("machine {name} has {} network interfaces; reservations are for {first}", vm.macs.len());
            wrong(text, "remove all but one of its network interfaces".to_owned());
        }
    }
    let play = format!("ansible-playbook -i inventory.yml {}", playbook(machine));
    match (&vm.ignition, config) {
        (None, _) if vm.is_down => {}
        (None, _) => {
            wrong(format!("machine {name} runs without an Ignition config"), format!("switch it off, then {play}"));
        }
        (Some(_), None) => {
            wrong(format!("the kit has no Ignition config for {name}"), "landfall upi create".to_owned());
        }
        // A machine reads its config once; what the kit has for it now does not matter any more.
        (Some(given), Some(_)) if !vm.is_down && is_ignition(given) => {}
        (Some(given), Some(config)) if !is_same(given, config) => {
            wrong(format!("machine {name} was given another Ignition config than that of the kit"), play);
        }
        (Some(_), Some(_)) => {}
    }
    findings
}

/// Sizes that differ: what, as it is, as it should be.
fn sizes(vm: &VmView, profile: &Profile) -> Vec<(&'static str, String, String)> {
    let mut wrong = Vec::new();
    if let Some(memory) = profile.memory_mib.filter(|memory| u64::from(*memory) != vm.memory_mib) {
        wrong.push(("MiB of memory", vm.memory_mib.to_string(), memory.to_string()));
    }
    if let (Some(sockets), Some(cores), Some(threads)) = (profile.sockets, profile.cores, profile.threads)
        // The engine gives a pinned machine the topology of its host.
        && !profile.resize_and_pin
        && (sockets, cores, threads) != vm.topology
    {
        let written = |(sockets, cores, threads): (u32, u32, u32)| format!("{sockets} × {cores} × {threads}");
        wrong.push(("processors", written(vm.topology), written((sockets, cores, threads))));
    }
    match vm.os_disk_gib {
        None => wrong.push(("disks to boot from", "no".to_owned(), "one".to_owned())),
        Some(size) if size < u64::from(profile.os_disk_gib) => {
            wrong.push(("GiB on the disk that it boots from", size.to_string(), profile.os_disk_gib.to_string()));
        }
        Some(_) => {}
    }
    wrong
}

fn playbook(machine: &Machine) -> &'static str {
    match machine.role {
        crate::MachineKind::Bootstrap => "bootstrap.yml",
        crate::MachineKind::Master => "masters.yml",
        crate::MachineKind::Worker => "workers.yml",
    }
}

fn is_ignition(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value["ignition"]["version"].is_string())
}

fn is_same(one: &str, other: &str) -> bool {
    match (serde_json::from_str::<Value>(one), serde_json::from_str::<Value>(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}
