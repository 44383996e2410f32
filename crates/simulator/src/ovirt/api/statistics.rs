//! Statistics: figures about VMs, hosts, disks and interfaces. What the simulator has no figure for is zero.

use super::found::{Found, Lookup};
use super::view::View;
use crate::ovirt::model::{Disk, Host, Vm};
use crate::ovirt::representation::decimal;
use crate::ovirt::table::Id;

/// A figure: name, description, unit, whether it is an integer, and value.
struct Figure {
    name: &'static str,
    description: &'static str,
    unit: &'static str,
    integer: bool,
    value: f64,
}

#[allow(clippy::cast_precision_loss, reason = "a figure for people")]
fn bytes(name: &'static str, description: &'static str, value: u64) -> Figure {
    Figure { name, description, unit: "bytes", integer: true, value: value as f64 }
}

fn percent(name: &'static str, description: &'static str, value: f64) -> Figure {
    Figure { name, description, unit: "percent", integer: false, value }
}

/// The statistics of a VM.
pub(crate) fn of_vm<'s>(vm: &'s Vm, parts: &[&str]) -> Lookup<'s> {
    let running = vm.is_running();
    let used = if running { vm.memory_bytes() / 2 } else { 0 };
    let busy = if running { 5.0 } else { 0.0 };
    let figures = vec![
        bytes("memory.installed", "Total memory configured", vm.memory_bytes()),
        bytes("memory.used", "Memory used (agent)", used),
        percent("cpu.current.guest", "CPU used by guest", busy),
        percent("cpu.current.hypervisor", "CPU overhead", busy / 5.0),
        percent("cpu.current.total", "Total CPU used", busy * 1.2),
        percent("migration.progress", "Migration Progress", 0.0),
        bytes("memory.free", "Memory free (agent)", if running { vm.memory_bytes() - used } else { 0 }),
        percent("network.current.total", "Total network used", 0.0),
    ];
    select("vm", format!("vms/{}", vm.id), vm.id, figures, parts)
}

/// The statistics of a host.
pub(crate) fn of_host<'s>(host: &'s Host, parts: &[&str]) -> Lookup<'s> {
    let promised = host.promised_bytes().min(host.memory_bytes);
    let figures = vec![
        bytes("memory.total", "Total memory", host.memory_bytes),
        bytes("memory.used", "Used memory", promised),
        bytes("memory.free", "Free memory", host.memory_bytes - promised),
        percent("cpu.current.user", "User CPU usage", 0.0),
        percent("cpu.current.system", "System CPU usage", 0.0),
        percent("cpu.current.idle", "Idle CPU usage", 100.0),
        percent("cpu.load.avg.5m", "CPU 5 minute load average", 0.0),
    ];
    select("host", format!("hosts/{}", host.id), host.id, figures, parts)
}

/// The statistics of a disk.
pub(crate) fn of_disk<'s>(disk: &'s Disk, parts: &[&str]) -> Lookup<'s> {
    let rate = |name, description| Figure { name, description, unit: "bytes_per_second", integer: false, value: 0.0 };
    let figures = vec![
        rate("data.current.read", "Read data rate"),
        rate("data.current.write", "Write data rate"),
        Figure { unit: "seconds", ..rate("disk.read.latency", "Read latency") },
        Figure { unit: "seconds", ..rate("disk.write.latency", "Write latency") },
    ];
    select("disk", format!("disks/{}", disk.id), disk.id, figures, parts)
}

/// The statistics of an interface of a VM, which is at `path`.
pub(crate) fn of_nic<'s>(path: String, id: Id, parts: &[&str]) -> Lookup<'s> {
    let rate = |name, description| Figure { name, description, unit: "bits_per_second", integer: true, value: 0.0 };
    let figures = vec![
        rate("data.current.rx.bps", "Receive data rate"),
        rate("data.current.tx.bps", "Transmit data rate"),
        bytes("data.total.rx", "Total received data", 0),
        bytes("data.total.tx", "Total transmitted data", 0),
    ];
    select("nic", path, id, figures, parts)
}

fn select<'s>(owner: &'static str, path: String, id: Id, figures: Vec<Figure>, parts: &[&str]) -> Lookup<'s> {
    let write = move |view: &mut View, element: &'static str, index: usize, figure: &Figure| {
        let own = statistic_id(id, index);
        view.open(element, format_args!("{path}/statistics/{own}"), own);
        view.out.text("name", figure.name);
        view.out.text("description", figure.description);
        view.out.text("kind", "gauge");
        view.out.text("type", if figure.integer { "integer" } else { "decimal" });
        view.out.text("unit", figure.unit);
        view.out.open_list("values", "value");
        view.out.open("value");
        view.out.text("datum", decimal(figure.value));
        view.close();
        view.close();
        view.reference_to(owner, format_args!("{path}"), id);
        view.close();
    };
    let all = (0..figures.len()).collect();
    let render = move |view: &mut View, element, index: usize| write(view, element, index, &figures[index]);
    Found::among(("statistics", "statistic"), all, move |index| statistic_id(id, index), render, parts)
}

/// A statistic's id follows from its owner's, so that it can be looked up again.
fn statistic_id(owner: Id, index: usize) -> Id {
    Id::from_u128(owner.as_u128() ^ ((index as u128 + 1) << 64))
}
