//! What jobs do: a check when they begin, the deed when their time has come.

use std::time::Duration;

use super::inventory::seconds;
use super::state::{Due, Job, State};
use super::{discovery, fibre, guests, migration, partition};

/// The catalogue.
const KNOWN: [(&str, &[&str]); 4] = [
    (
        "LogicalPartition",
        &["PowerOn", "PowerOff", "Migrate", "MigrateValidate", "MigrateAbort", "MigrateRecover", "CloseVterm"],
    ),
    ("VirtualIOServer", &["PowerOn", "PowerOff", "LUARecovery", "RemoveDevice", "RescanVirtualDisk"]),
    (
        "ManagedSystem",
        &[
            "GetNextWWPNs",
            "QueryReservedMemoryRequiredForPartition",
            "RequestMaster",
            "ReleaseMaster",
            "RequestController",
            "ReleaseController",
        ],
    ),
    ("Cluster", &["LULinkedClone", "GrowLogicalUnit"]),
];

/// How many pairs of port names can be had at once.
const PAIRS: usize = 8;

/// Whether there is such an operation on such objects.
pub(crate) fn is_known(group: &str, operation: &str) -> bool {
    KNOWN.iter().any(|(kind, operations)| *kind == group && operations.contains(&operation))
}

/// Looks whether a job can begin, and lets it begin. How long it takes, or why it cannot.
pub(crate) fn begin(state: &mut State, host: usize, job: &Job) -> Result<Duration, String> {
    let usual = seconds(state.settings.job_seconds);
    let target = job.target.clone().unwrap_or_default();
    match job.operation.as_str() {
        "PowerOn" => {
            match partition_state(state, host, &target).as_str() {
                "not activated" => {}
                "running" | "starting" | "open firmware" => {
                    return Err("PVME01042026: The partition is already powered on.".to_owned());
                }
                other => return Err(format!("PVME01042027: The partition is {other} and cannot be powered on.")),
            }
            state.set_partition_state(host, &target, "starting");
            Ok(seconds(state.settings.power_on_seconds))
        }
        "PowerOff" => begin_power_off(state, host, &target, job).map(|()| usual),
        "Migrate" | "MigrateValidate" => {
            migration::check(state, host, &target, job)?;
            if job.operation == "MigrateValidate" {
                return Ok(usual);
            }
            migration::begin(state, host, &target);
            Ok(seconds(state.settings.migration_seconds))
        }
        "GetNextWWPNs" if job.parameter("numberPairsRequested").parse::<usize>().is_ok_and(|n| n > PAIRS) => {
            Err(format!("HSCL3501: No more than {PAIRS} pairs can be requested at once."))
        }
        _ => Ok(usual),
    }
}

fn partition_state(state: &State, host: usize, id: &str) -> String {
    state.object(host, id).map(|object| object.element.text("PartitionState").to_owned()).unwrap_or_default()
}

fn begin_power_off(state: &mut State, host: usize, id: &str, job: &Job) -> Result<(), String> {
    let restart = job.parameter("restart") == "true";
    match partition_state(state, host, id).as_str() {
        "not activated" if restart => return Err("PVME04000005: The partition is already powered off.".to_owned()),
        "not activated" => return Err("PVME01050901: The partition is already powered off.".to_owned()),
        _ => {}
    }
    if job.parameter("operation") == "osshutdown" {
        let partition = state.object(host, id).map(|object| object.element.clone()).unwrap_or_default();
        let connected = partition.text("ResourceMonitoringControlState") == "active";
        if !connected && partition.text("PartitionType") != "OS400" {
            return Err(
                "PVME01050905: The operating system cannot be shut down: there is no RMC connection.".to_owned()
            );
        }
        guests::shut_down(state, id, restart);
    }
    if !restart {
        state.set_partition_state(host, id, "shutting down");
    }
    Ok(())
}

/// Ends a job without success.
pub(crate) fn fail(job: &mut Job, message: String, now: u64) {
    "COMPLETED_WITH_ERROR".clone_into(&mut job.status);
    job.results = vec![("result".to_owned(), message.clone())];
    job.exception = Some(message);
    job.completed = Some(now);
}

/// Does what a job is for.
pub(crate) fn finish(state: &mut State, host: usize, id: u64) {
    let Some(job) = state.hosts[host].jobs.get(&id).filter(|job| job.status == "RUNNING").cloned() else { return };
    let outcome = perform(state, host, &job);
    let now = state.clock().milliseconds();
    let Some(job) = state.hosts[host].jobs.get_mut(&id) else { return };
    match outcome {
        Ok(results) => {
            "COMPLETED_OK".clone_into(&mut job.status);
            job.results = results;
            job.completed = Some(now);
        }
        Err(message) => fail(job, message, now),
    }
}

fn perform(state: &mut State, host: usize, job: &Job) -> Result<Vec<(String, String)>, String> {
    let target = job.target.clone().unwrap_or_default();
    let result = |name: &str, value: String| Ok(vec![(name.to_owned(), value)]);
    match job.operation.as_str() {
        "PowerOn" => {
            if state.object(host, &target).is_none() {
                return Err("PVME01042001: The partition does not exist any more.".to_owned());
            }
            state.set_partition_state(host, &target, "running");
            guests::start(state, host, &target);
            let medium = job.parameter("remove_optical_name").to_owned();
            if !medium.is_empty() && !state.keeps_media {
                let minutes: u64 = job.parameter("remove_optical_time").parse().unwrap_or_default();
                state.schedule(Duration::from_secs(60 * minutes), Due::Eject { host, partition: target, medium });
            }
            Ok(Vec::new())
        }
        "PowerOff" if job.parameter("restart") == "true" => {
            guests::stop(state, host, &target);
            state.set_partition_state(host, &target, "running");
            guests::start(state, host, &target);
            Ok(Vec::new())
        }
        "PowerOff" => {
            guests::stop(state, host, &target);
            switch_off(state, host, &target);
            Ok(Vec::new())
        }
        "Migrate" => migration::finish(state, host, &target, job).map(|()| Vec::new()),
        "MigrateAbort" | "MigrateRecover" => {
            migration::undo(state, host, &target);
            Ok(Vec::new())
        }
        "CloseVterm" => {
            state.hosts[host].consoles.remove(&target);
            Ok(Vec::new())
        }
        "LUARecovery" => discovery::recover(state, host, &target, job.parameter("inputXML"))
            .and_then(|output| result("OutputXML", output)),
        "RemoveDevice" => discovery::remove(state, host, &target, job.parameter("devName")).map(|()| Vec::new()),
        "GetNextWWPNs" => {
            let count: usize = job.parameter("numberPairsRequested").parse().unwrap_or(1);
            let pairs: Vec<String> = (0..count).map(|_| fibre::pair(state, host).replace(' ', ",")).collect();
            result("wwpnList", pairs.join(","))
        }
        "QueryReservedMemoryRequiredForPartition" => {
            let wanted: u64 = job.parameter("DesiredMemory").parse().unwrap_or_default();
            let most: u64 = job.parameter("MaximumMemory").parse().unwrap_or_default();
            let (free, _) = partition::available(state, host);
            Ok(vec![
                ("RequiredMemory".to_owned(), (wanted + most / 64).to_string()),
                ("CurrentAvailableSystemMemory".to_owned(), free.to_string()),
            ])
        }
        "LULinkedClone" => {
            super::pool::linked_clone(state, host, job.parameter("SourceUDID"), job.parameter("TargetUDID"))
        }
        "GrowLogicalUnit" => {
            super::pool::grow_unit(state, host, job.parameter("LogicalUnitUDID"), job.parameter("Capacity"))
        }
        "RequestMaster" | "ReleaseMaster" => {
            let system = state.hosts[host].system.clone();
            if let Some(system) = state.object_mut(host, &system) {
                let master = job.operation == "RequestMaster";
                system.element.set("IsPowerVMManagementMaster", master);
                system.element.set("IsManagementPartitionPowerVMManagementMaster", master);
                system.element.set("IsHMCPowerVMManagementMaster", !master);
            }
            Ok(Vec::new())
        }
        _ => Ok(Vec::new()),
    }
}

/// A partition that stopped running.
pub(crate) fn switch_off(state: &mut State, host: usize, id: &str) {
    if let Some(partition) = state.object_mut(host, id) {
        partition.element.set("ResourceMonitoringControlState", "inactive");
        partition.element.put(partition::capabilities(false));
        partition.element.set("OperatingSystemVersion", "Unknown");
    }
    state.hosts[host].cut_off.remove(id);
    state.set_partition_state(host, id, "not activated");
}

/// Tidies up after a job that was told to end early.
pub(crate) fn cancelled(state: &mut State, host: usize, job: &Job) {
    let target = job.target.clone().unwrap_or_default();
    state.agenda.retain(|(_, _, due)| *due != Due::Job { host, id: job.id });
    match job.operation.as_str() {
        "Migrate" => migration::undo(state, host, &target),
        "PowerOn" => state.set_partition_state(host, &target, "not activated"),
        "PowerOff" => state.set_partition_state(host, &target, "running"),
        _ => {}
    }
}
