//! The actions of a VM.

use super::add::clone_vm;
use super::config::configurable;
use crate::ovirt::api::call::{Call, Done, Outcome};
use crate::ovirt::api::kind::Kind;
use crate::ovirt::api::refs;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::commands::{self, Start, idle};
use crate::ovirt::lifecycle::vm::Event;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{NumaNode, VmStatus};
use crate::ovirt::operating_systems::Delivery;
use crate::ovirt::representation::Tree;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// The actions that a VM has.
pub(crate) const ACTIONS: &[&str] = &[
    "autopincpuandnumanodes",
    "cancelmigration",
    "clone",
    "detach",
    "freezefilesystems",
    "logon",
    "maintenance",
    "migrate",
    "reboot",
    "reordermacaddresses",
    "reset",
    "shutdown",
    "start",
    "stop",
    "suspend",
    "thawfilesystems",
    "ticket",
];

/// Carries out an action.
pub(crate) fn act(call: &mut Call, id: Id, action: &str) -> Outcome {
    let tree = call.read_action()?;
    let state = &mut *call.state;
    let job = match action {
        "start" => {
            let options = start_options(state, &tree)?;
            commands::start(state, id, &options)?
        }
        "stop" => commands::stop(state, id, tree.text("reason"))?,
        "shutdown" => commands::shutdown(state, id, tree.text("reason"))?,
        "reboot" => commands::reboot(state, id, Event::Reboot)?,
        "reset" => commands::reboot(state, id, Event::Reset)?,
        "suspend" => commands::suspend(state, id)?,
        "migrate" => {
            let host = refs::reference(state, &tree, "host", Kind::Host)?;
            commands::migrate(state, id, host.as_slice(), false)?
        }
        "cancelmigration" => commands::cancel_migration(state, id)?,
        "autopincpuandnumanodes" => return auto_pin(state, id, &tree),
        "clone" => return clone_vm(call, id, &tree),
        // These touch the guest or the console, of which the simulator has no part that could change.
        "freezefilesystems"
        | "thawfilesystems"
        | "logon"
        | "maintenance"
        | "ticket"
        | "reordermacaddresses"
        | "detach" => {
            idle(state, id, attempt("update", "VM"))?;
            return Ok(Done::Acted { job: None, pending: false });
        }
        _ => return Err(Fault::not_found()),
    };
    // What a host does is not a task of the engine: the answer says that the action is complete.
    Ok(Done::Acted { job: Some(job), pending: false })
}

fn start_options(state: &State, tree: &Tree) -> Result<Start, Fault> {
    let flag = |name| tree.bool(name) == Some(true);
    let deliveries: Vec<Delivery> = [
        ("use_cloud_init", Delivery::CloudInit),
        ("use_ignition", Delivery::Ignition),
        ("use_sysprep", Delivery::Sysprep),
    ]
    .into_iter()
    .filter(|(name, _)| flag(name))
    .map(|(_, delivery)| delivery)
    .collect();
    if deliveries.len() > 1 {
        let detail = "Cannot use multiple initialization tags simultaneously when running VM.";
        return Err(Fault::new(409, "Operation Failed", detail));
    }
    let described = tree.sub("vm");
    let hosts = described.and_then(|vm| vm.sub("placement_policy")).and_then(|policy| policy.list("hosts"));
    let hosts = hosts.into_iter().flatten().filter_map(|host| refs::resolve(state, host, Kind::Host).transpose());
    Ok(Start {
        hosts: hosts.collect::<Result<_, Fault>>()?,
        run_once: described.map(configurable).filter(|config| config.iter().next().is_some()),
        delivery: deliveries.first().copied(),
        initialize: flag("use_initialization"),
        paused: flag("pause"),
    })
}

/// Resizes a VM to the hosts it is pinned to, and pins its processors there.
fn auto_pin(state: &mut State, id: Id, tree: &Tree) -> Outcome {
    let refuse = attempt("edit", "VM");
    let vm = idle(state, id, refuse)?;
    if vm.status != VmStatus::Down {
        return Err(refuse.vm_not_down());
    }
    let (pinned, cluster, cpus, memory_mib) =
        (vm.placement.hosts.clone(), vm.cluster, vm.cpus(), vm.memory_bytes() >> 20);
    if pinned.is_empty() {
        return Err(refuse.conflict("VM must be pinned to at least one host for automatic pinning."));
    }
    let host = state.hosts.iter().find(|host| pinned.contains(&host.id) && host.cluster == cluster);
    let Some(host) = host else { return Err(refuse.conflict("The hosts that the VM is pinned to do not exist.")) };
    let (sockets, cores, threads) = (host.sockets, host.cores, host.threads);
    let adjust = tree.bool("optimize_cpu_settings") == Some(true) || tree.text("auto_pinning_policy") == Some("adjust");
    let mut config = state.vms.get(id).ok_or_else(Fault::not_found)?.config.as_ref().clone();
    let mut cpu = config.sub("cpu").cloned().unwrap_or_default();
    let mut policy = "manual";
    if adjust {
        // One core of each socket is left to the host itself.
        let topology = Tree::new()
            .with("sockets", i64::from(sockets))
            .with("cores", i64::from(cores.saturating_sub(1).max(1)))
            .with("threads", i64::from(threads));
        cpu.set("topology", topology);
        policy = "resize_and_pin_numa";
    }
    config.set("cpu", cpu);
    config.set("cpu_pinning_policy", policy);
    let nodes = (0..sockets).map(|index| NumaNode {
        id: state.new_id(),
        index,
        memory_mib: memory_mib / u64::from(sockets.max(1)),
        cpus: (0..cpus).filter(|cpu| cpu % sockets.max(1) == index).collect(),
    });
    let nodes: Vec<NumaNode> = nodes.collect();
    let vm = state.vms.get_mut(id).ok_or_else(Fault::not_found)?;
    vm.config = config.into();
    vm.numa_nodes = nodes;
    Ok(Done::Acted { job: None, pending: false })
}
