//! Plans, pinned.

use landfall_config::InstallConfig;
use landfall_platform::Stage;
use landfall_platform_ovirt::{Facts, plan};
use serde_json::json;

use crate::scene::{PROFILE, config, configured};

/// A plan as a person reads it, and after that what each step makes.
fn show(config: &InstallConfig, hosts_up: usize, stage: Stage) -> String {
    let facts = Facts { hosts_up, vnic_profile_id: Some(PROFILE.to_owned()) };
    let plan = plan(config, &"demo-x7k2p".parse().unwrap(), &facts, stage).unwrap();
    let lines = plan.steps().map(|spec| {
        let needs: Vec<&str> = spec.needs.iter().map(landfall_platform::StepId::as_str).collect();
        format!("{}: {} within {:?}, after {needs:?}\n    {}", spec.id, spec.title, spec.timeout, spec.desired)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_small_cluster() {
    insta::assert_snapshot!(show(&config(1, 0), 1, Stage::Bootstrapping));
}

#[test]
fn a_cluster_without_its_bootstrap_machine_is_otherwise_the_same() {
    let whole = show(&config(3, 2), 4, Stage::Bootstrapping);
    let pivoted = show(&config(3, 2), 4, Stage::Pivoted);
    let without: Vec<&str> = whole.lines().filter(|line| !line.contains("bootstrap")).collect();
    assert_eq!(pivoted.lines().collect::<Vec<_>>(), without);
}

#[test]
fn a_large_cluster_from_an_image() {
    let config = configured(3, 30, &json!({ "disk": "https://example.com/fcos.qcow2" }), &json!({}));
    let shown = show(&config, 31, Stage::Bootstrapping);
    assert_eq!(shown.lines().filter(|line| line.starts_with("vm/")).count(), 4, "workers are made by the cluster");
    insta::assert_snapshot!(shown);
}

#[test]
fn every_setting_reaches_the_plan() {
    let platform = json!({
        "affinityGroups": [
            { "name": "apart", "priority": 1, "enforcing": true, "description": "different racks" },
            { "name": "loose", "enforcing": false },
        ],
        "defaultMachinePlatform": {
            "affinityGroupsNames": ["apart", "existing"], "vmType": "desktop", "hugepages": 2048, "osDisk": { "sizeGB": 50 },
            "cpu": { "sockets": 2, "cores": 3, "threads": 2 }, "memoryMB": 8192, "guaranteedMemoryMB": 4096,
            "autoPinningPolicy": "resize_and_pin", "sparse": true, "format": "cow",
        },
    });
    insta::assert_snapshot!(show(
        &configured(1, 1, &json!({ "template": "rhcos" }), &platform),
        2,
        Stage::Bootstrapping
    ));
}

#[test]
fn no_groups_means_none() {
    let config = configured(3, 2, &json!({ "template": "fcos" }), &json!({ "affinityGroups": [] }));
    assert!(!show(&config, 9, Stage::Bootstrapping).contains("affinity-group"));
}

/// Hosts must suffice for all members, with one more for maintenance, before they are kept apart by force.
#[test]
fn machines_are_kept_apart_by_force_only_if_there_are_hosts_enough() {
    for (hosts, enforced) in [(0, false), (2, false), (3, false), (4, true)] {
        let shown = show(&config(3, 0), hosts, Stage::Bootstrapping);
        let group = shown.lines().find(|line| line.contains("\"demo-x7k2p-controlplane\"")).unwrap();
        assert!(group.contains(&format!("\"enforcing\":{enforced}")), "{hosts} hosts: {group}");
    }
}
