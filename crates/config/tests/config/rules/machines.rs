//! Machine pools and the oVirt section.

use super::{refused, welcome};
use crate::support::{accepted, assert_notice, assert_problem, problems};

const ID: &str = "instanceTypeID: 00000000-0000-0000-0000-00000000000a";

#[test]
fn machine_pools() {
    refused(&[
        ("controlPlane.replicas=0", "controlPlane.replicas", "must be at least 1"),
        ("controlPlane.replicas=9", "controlPlane.replicas", "must be at most 7"),
        ("controlPlane.replicas=-1", "controlPlane.replicas", "must be a whole number of 0 or more"),
        ("controlPlane.replicas=1.5", "controlPlane.replicas", "must be a whole number of 0 or more"),
        (
            "controlPlane.replicas='3'",
            "controlPlane.replicas",
            "must be a whole number, not text\n    write it without quotes",
        ),
        ("controlPlane.name=control", "controlPlane.name", "must be 'master'"),
        ("compute[0].name=master", "compute[0].name", "must not be 'master'"),
        ("compute[0].name=Infra", "compute[0].name", "'infra' would do"),
        ("compute[0].name=''", "compute[0].name", "must not be empty"),
        ("compute[1].name=worker", "compute[1].name", "must be unique among the compute pools"),
        ("compute[1].replicas=1", "compute[1].name", "must be unique among the compute pools"),
        ("compute[0].architecture=s390x", "compute[0].architecture", "must be 'amd64', 'arm64' or 'ppc64le'"),
    ]);
    assert_problem(
        &["compute[0].replicas=6000", "networking={clusterNetwork: [{cidr: 10.0.0.0/8, hostPrefix: 24}]}"],
        "compute",
        "larger than 5000 machines, and comes to 6003",
    );
    assert_problem(
        &["controlPlane.architecture=amd64", "compute[0].architecture=arm64"],
        "compute[0].architecture",
        "must be that of the control plane, 'amd64'",
    );
    let reason = "2 is even: etcd needs more than half of its members, so 2 masters survive the loss of 0, as 1 do";
    assert_notice(&["controlPlane.replicas=2"], "controlPlane.replicas", reason);
    assert_notice(&["controlPlane.replicas=4"], "controlPlane.replicas", "4 masters survive the loss of 1, as 3 do");
    assert_notice(&["compute=[]"], "compute", "the masters will run workloads too");
    assert_notice(&["compute[0].replicas=0"], "compute", "the masters will run workloads too");
    let config = accepted(&["controlPlane={replicas: 1}", "compute=[{replicas: 1}]"]).config;
    assert_eq!((config.control_plane.name.as_str(), config.compute[0].name.as_str()), ("master", "worker"));
    let config = accepted(&["compute[0].architecture=arm64", "controlPlane.architecture=arm64"]).config;
    assert_eq!(config.architecture(), landfall_config::Architecture::Arm64);
    let config = accepted(&["controlPlane.architecture=ppc64le"]).config;
    assert_eq!(config.compute[0].architecture, Some(landfall_config::Architecture::Ppc64le));
}

#[test]
fn ovirt_section() {
    refused(&[
        ("platform.ovirt.ovirt_cluster_id=Default", "platform.ovirt.ovirt_cluster_id", "must be an id of the engine"),
        ("platform.ovirt.ovirt_storage_domain_id=", "platform.ovirt.ovirt_storage_domain_id", "is missing"),
        ("platform.ovirt.ovirt_network_name=''", "platform.ovirt.ovirt_network_name", "must not be empty"),
        ("platform.ovirt.vnicProfileID=x", "platform.ovirt.vnicProfileID", "must be an id of the engine"),
        (
            "platform.ovirt.vrrp={api: 3, ingress: 3}",
            "platform.ovirt.vrrp.ingress",
            "must differ from platform.ovirt.vrrp.api",
        ),
        ("platform.ovirt.vrrp={api: 0, ingress: 3}", "platform.ovirt.vrrp.api", "must be a whole number from 1 to 255"),
        (
            "platform.ovirt.vrrp={api: 1, ingress: 256}",
            "platform.ovirt.vrrp.ingress",
            "must be a whole number from 1 to 255",
        ),
        ("platform.ovirt.image={}", "platform.ovirt.image", "must name one of: template, disk"),
        (
            "platform.ovirt.image={template: a, disk: b}",
            "platform.ovirt.image",
            "must name exactly one of: template, disk",
        ),
        ("platform.ovirt.image={template: ''}", "platform.ovirt.image.template", "must not be empty"),
        ("platform.ovirt.image={disk: ''}", "platform.ovirt.image.disk", "must not be empty"),
        ("platform.ovirt.image={disk: 'ftp://a/b'}", "platform.ovirt.image.disk", "http:// or https://"),
        (
            "platform.ovirt.affinityGroups=[{name: a}, {name: a, priority: 1}]",
            "platform.ovirt.affinityGroups[1].name",
            "must be unique in the list",
        ),
        (
            "platform.ovirt.affinityGroups=[{name: a, priority: 6}]",
            "platform.ovirt.affinityGroups[0].priority",
            "from 0 to 5",
        ),
        ("platform.ovirt.affinityGroups=[{name: 'a b'}]", "platform.ovirt.affinityGroups[0].name", "letters, digits"),
        ("platform.ovirt.affinityGroups=[{}]", "platform.ovirt.affinityGroups[0].name", "is missing"),
    ]);
    welcome(&[
        "platform.ovirt.vrrp={api: 1, ingress: 255}",
        "platform.ovirt.image={disk: /images/fcos.qcow2}",
        "platform.ovirt.image={disk: 'https://example.com/fcos.qcow2'}",
        "platform.ovirt.image=",
        "platform.ovirt.affinityGroups=[{name: a, priority: 0, enforcing: true, description: x}]",
    ]);
    assert_notice(
        &["loadBalancer=userManaged", "platform.ovirt.vrrp={api: 1, ingress: 2}"],
        "platform.ovirt.vrrp",
        "has no use",
    );
}

#[test]
fn ovirt_machine_pools() {
    let pool = |settings: &str| format!("controlPlane.platform.ovirt={{{settings}}}");
    let at = "controlPlane.platform.ovirt";
    for (settings, field, fragment) in [
        ("cpu: {cores: 0}", "cpu.cores", "must be a whole number from 1 to 254"),
        ("cpu: {sockets: 0}", "cpu.sockets", "must be a whole number from 1 to 16"),
        ("cpu: {threads: 0}", "cpu.threads", "must be a whole number from 1 to 8"),
        ("cpu: {cores: 1}", "cpu", "('1') must come to at least 2 processors for masters"),
        ("memoryMB: 2047", "memoryMB", "must be from 2048 to 67108864 MiB for masters"),
        ("memoryMB: 4294967295, guaranteedMemoryMB: 1024", "memoryMB", "must be from 2048"),
        (
            "memoryMB: 4096, guaranteedMemoryMB: 4097",
            "guaranteedMemoryMB",
            "must not be more than the memory of the machine, 4096 MiB",
        ),
        ("osDisk: {sizeGB: 15}", "osDisk.sizeGB", "must be from 16 to 65536 GiB"),
        ("osDisk: {}", "osDisk.sizeGB", "is missing"),
        ("vmType: fast", "vmType", "must be 'desktop', 'server' or 'high_performance'"),
        ("autoPinningPolicy: adjust", "autoPinningPolicy", "must be 'none' or 'resize_and_pin'"),
        ("hugepages: 4096", "hugepages", "must be 2048 or 1048576"),
        ("hugepages: 1048576, memoryMB: 5000", "memoryMB", "must be a multiple of the size of huge pages, 1024 MiB"),
        ("clone: false, format: raw", "format", "must be 'cow' when clone is false"),
        ("vmType: desktop, sparse: false", "sparse", "must be true when clone is false"),
        ("format: qcow2", "format", "must be 'raw' or 'cow'"),
        ("clone: yes", "clone", "must be true or false, not text"),
        ("affinityGroupsNames: [compute, compute]", "affinityGroupsNames[1]", "must be unique in the list"),
        ("affinityGroupsNames: ['']", "affinityGroupsNames[0]", "letters, digits"),
        ("instanceTypeID: x", "instanceTypeID", "must be an id of the engine"),
        (&format!("{ID}, memoryMB: 4096"), "memoryMB", "must be left out, because instanceTypeID decides it"),
        (&format!("{ID}, cpu: {{}}"), "cpu", "must be left out, because instanceTypeID decides it"),
        (&format!("{ID}, guaranteedMemoryMB: 1"), "guaranteedMemoryMB", "must be left out"),
        ("memory: 4096", "memory", "is not a known field\n    did you mean 'memoryMB'?"),
    ] {
        assert_problem(&[&pool(settings)], &format!("{at}.{field}"), fragment);
    }
    for settings in [
        "memoryMB: 2048, cpu: {sockets: 2, cores: 1}",
        "osDisk: {sizeGB: 16}",
        "hugepages: 2048, memoryMB: 4096",
        ID,
        "clone: false, format: cow",
    ] {
        accepted(&[&pool(settings)]);
    }
    assert_problem(
        &["compute[0].platform.ovirt.memoryMB=1000"],
        "compute[0].platform.ovirt.memoryMB",
        "must be from 1024 to 67108864 MiB for workers",
    );
    let twice = problems(&["platform.ovirt.defaultMachinePlatform.memoryMB=1000"]);
    assert!(twice.iter().all(|problem| problem.path == "platform.ovirt.defaultMachinePlatform.memoryMB"));
    assert_eq!(twice.len(), 2, "one for masters, one for workers");
    assert_notice(
        &[&pool("affinityGroupsNames: [mine]")],
        &format!("{at}.affinityGroupsNames[0]"),
        "has to exist in the engine",
    );
    assert_notice(
        &[&pool("autoPinningPolicy: resize_and_pin, cpu: {cores: 8}")],
        &format!("{at}.cpu"),
        "replaced by the host's topology",
    );
}

#[test]
fn openshift_sizes_are_advice() {
    let okd = ["distribution=okd", "pullSecret={\"auths\":{\"a\":{\"auth\":\"b\"}}}"];
    let with = |assignment| [okd[0], okd[1], assignment];
    assert_notice(
        &with("controlPlane.platform.ovirt.memoryMB=8192"),
        "controlPlane.platform.ovirt",
        "at least 4 processors and 16384 MiB",
    );
    assert_notice(
        &with("compute[0].platform.ovirt.osDisk.sizeGB=50"),
        "compute[0].platform.ovirt.osDisk.sizeGB",
        "at least 100 GiB",
    );
    assert_eq!(accepted(&okd).notices, []);
}
