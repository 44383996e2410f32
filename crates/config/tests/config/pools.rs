//! What machine pools come to.

use landfall_config::{
    InstallConfig, ResolvedPool, Role, Size,
    ovirt::{AutoPinningPolicy, DiskFormat, VmType},
};

use crate::support::config;

fn masters(config: &InstallConfig) -> ResolvedPool {
    config.ovirt_pool(&config.control_plane, Role::Master)
}

fn workers(config: &InstallConfig) -> ResolvedPool {
    config.ovirt_pool(&config.compute[0], Role::Worker)
}

#[test]
fn built_in() {
    let config = config(&[]);
    let wanted = ResolvedPool {
        size: Size::Custom { sockets: 1, cores: 4, threads: 1, memory_mib: 16384, guaranteed_memory_mib: 16384 },
        os_disk_gib: 120,
        vm_type: VmType::HighPerformance,
        affinity_groups: vec!["controlplane".to_owned()],
        auto_pinning_policy: AutoPinningPolicy::None,
        hugepages: None,
        clone: true,
        sparse: None,
        format: None,
    };
    assert_eq!(masters(&config), wanted);
    let wanted = ResolvedPool { vm_type: VmType::Server, affinity_groups: vec!["compute".to_owned()], ..wanted };
    assert_eq!(workers(&config), wanted);
}

#[test]
fn levels_are_laid_over_each_other_field_by_field() {
    let config = config(&[
        "platform.ovirt.defaultMachinePlatform={cpu: {cores: 8, threads: 2}, memoryMB: 32768, sparse: true, format: cow, clone: true}",
        "controlPlane.platform.ovirt={cpu: {sockets: 2}, guaranteedMemoryMB: 1024, osDisk: {sizeGB: 60}}",
        "compute[0].platform.ovirt={vmType: desktop, format: raw}",
    ]);
    let pool = masters(&config);
    assert_eq!(
        pool.size,
        Size::Custom { sockets: 2, cores: 8, threads: 2, memory_mib: 32768, guaranteed_memory_mib: 1024 }
    );
    assert_eq!((pool.os_disk_gib, pool.sparse, pool.format, pool.clone), (60, Some(true), Some(DiskFormat::Cow), true));
    let pool = workers(&config);
    assert_eq!(
        pool.size,
        Size::Custom { sockets: 1, cores: 8, threads: 2, memory_mib: 32768, guaranteed_memory_mib: 32768 }
    );
    assert_eq!(
        (pool.os_disk_gib, pool.sparse, pool.format, pool.clone),
        (120, Some(true), Some(DiskFormat::Raw), true)
    );
}

#[test]
fn desktops_are_thin() {
    let config = config(&["compute[0].platform.ovirt.vmType=desktop"]);
    assert!(!workers(&config).clone);
    assert!(masters(&config).clone);
}

#[test]
fn instance_types_and_numbers_hide_each_other() {
    const ID: &str = "00000000-0000-0000-0000-00000000000a";
    let both = config(&[
        &format!("platform.ovirt.defaultMachinePlatform.instanceTypeID={ID}"),
        "compute[0].platform.ovirt.memoryMB=8192",
    ]);
    assert_eq!(masters(&both).size, Size::InstanceType(ID.parse().unwrap()));
    assert!(matches!(workers(&both).size, Size::Custom { memory_mib: 8192, cores: 4, .. }));
    let other = config(&[
        "platform.ovirt.defaultMachinePlatform.memoryMB=8192",
        &format!("compute[0].platform.ovirt.instanceTypeID={ID}"),
    ]);
    assert_eq!(workers(&other).size, Size::InstanceType(ID.parse().unwrap()));
}

#[test]
fn affinity_groups_follow_what_is_declared() {
    for (assignment, of_masters, of_workers) in [
        ("platform.ovirt.affinityGroups=[]", &[][..], &[][..]),
        ("platform.ovirt.affinityGroups=[{name: compute}]", &[], &["compute"]),
        ("compute[0].platform.ovirt.affinityGroupsNames=[]", &["controlplane"], &[]),
        ("compute[0].platform.ovirt.affinityGroupsNames=[mine]", &["controlplane"], &["mine"]),
        ("platform.ovirt.defaultMachinePlatform.affinityGroupsNames=[mine]", &["mine"], &["mine"]),
    ] {
        let config = config(&[assignment]);
        assert_eq!(masters(&config).affinity_groups, of_masters, "{assignment}");
        assert_eq!(workers(&config).affinity_groups, of_workers, "{assignment}");
    }
}
