//! Files of the reference installer.

use serde_json::json;

use crate::support::{accepted, assert_notice, assert_problem, config, example, notices, problems_of};

#[test]
fn scalar_virtual_addresses() {
    let mut tree = example();
    let ovirt = tree.pointer_mut("/platform/ovirt").unwrap().as_object_mut().unwrap();
    ovirt.remove("api_vips");
    ovirt.remove("ingress_vips");
    ovirt.insert("api_vip".to_owned(), json!("192.0.2.5"));
    ovirt.insert("ingress_vip".to_owned(), json!("192.0.2.6"));
    let parsed = landfall_config::parse_tree(tree).unwrap();
    assert_eq!(parsed.config, accepted(&[]).config);
    let texts: Vec<String> = parsed.notices.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "platform.ovirt.api_vip: is the old spelling of 'api_vips'",
            "platform.ovirt.ingress_vip: is the old spelling of 'ingress_vips'"
        ]
    );
}

#[test]
fn old_and_new_together() {
    assert_notice(&["platform.ovirt.api_vip=192.0.2.5"], "platform.ovirt.api_vip", "says the same as 'api_vips'");
    assert_problem(
        &["platform.ovirt.api_vip=192.0.2.9"],
        "platform.ovirt.api_vip",
        "disagrees with platform.ovirt.api_vips",
    );
    let dual = [
        "platform.ovirt.api_vips=[192.0.2.5, 'fd00::5']",
        "platform.ovirt.ingress_vips=[192.0.2.6, 'fd00::6']",
        "networking={machineNetwork: [{cidr: 192.0.2.0/24}, {cidr: 'fd00::/64'}], clusterNetwork: [{cidr: 10.128.0.0/14}, {cidr: 'fd01::/48'}], serviceNetwork: [172.30.0.0/16, 'fd02::/112']}",
        "platform.ovirt.api_vip=192.0.2.5",
    ];
    assert_notice(&dual, "platform.ovirt.api_vip", "says the same as 'api_vips'");
}

#[test]
fn a_single_value_for_a_list() {
    for path in ["platform.ovirt.api_vips", "platform.ovirt.ingress_vips", "networking.serviceNetwork"] {
        let value = if path.ends_with("vips") { "192.0.2.9" } else { "172.31.0.0/16" };
        assert_notice(&[&format!("{path}='{value}'")], path, "the single value is taken as its only item");
    }
}

#[test]
fn old_network_names() {
    let mut tree = example();
    tree["networking"] = json!({
        "type": "Routed",
        "machineCIDR": "192.0.2.0/24",
        "serviceCIDR": "172.31.0.0/16",
        "clusterNetworks": [{ "cidr": "10.132.0.0/14", "hostSubnetLength": 8 }],
    });
    let parsed = landfall_config::parse_tree(tree).unwrap();
    let networking = parsed.config.networking;
    assert_eq!(networking.machine_network[0].cidr.to_string(), "192.0.2.0/24");
    assert_eq!(networking.service_network[0].to_string(), "172.31.0.0/16");
    assert_eq!(networking.cluster_network[0].host_prefix, Some(24));
    let paths: Vec<&str> = parsed.notices.iter().map(|notice| notice.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "networking.machineCIDR",
            "networking.serviceCIDR",
            "networking.clusterNetworks",
            "networking.type",
            "networking.clusterNetwork[0].hostSubnetLength"
        ]
    );
}

#[test]
fn fields_that_only_the_reference_has() {
    for (assignment, path) in [
        ("publish=External", "publish"),
        ("fips=false", "fips"),
        ("credentialsMode=Manual", "credentialsMode"),
        ("additionalTrustBundlePolicy=Proxyonly", "additionalTrustBundlePolicy"),
        ("cpuPartitioningMode=None", "cpuPartitioningMode"),
        ("controlPlane.hyperthreading=Enabled", "controlPlane.hyperthreading"),
        ("compute[0].hyperthreading=Enabled", "compute[0].hyperthreading"),
        ("platform.ovirt.dns_vip=192.0.2.7", "platform.ovirt.dns_vip"),
        ("platform.ovirt.loadBalancer={type: OpenShiftManagedDefault}", "platform.ovirt.loadBalancer"),
        ("apiVersion=v1beta4", "apiVersion"),
        ("imageContentSources=[{source: quay.io, mirrors: [registry.example.com]}]", "imageContentSources"),
    ] {
        let notices = notices(&[assignment]);
        assert!(matches!(notices.as_slice(), [only] if only.path == path), "{assignment}: {notices:?}");
    }
    for (assignment, path, fragment) in [
        ("publish=Internal", "publish", "field of openshift-install"),
        ("fips=true", "fips", "operating system image"),
        ("credentialsMode=Mint", "credentialsMode", "no credentials operator"),
        ("featureSet=TechPreviewNoUpgrade", "featureSet", "FeatureGate manifest"),
        ("capabilities={baselineCapabilitySet: None}", "capabilities", "manifests/"),
        ("bootstrapInPlace={installationDisk: /dev/sda}", "bootstrapInPlace", "controlPlane.replicas: 1"),
        ("compute[0].hyperthreading=Disabled", "compute[0].hyperthreading", "cpu.threads"),
        ("platform.ovirt.loadBalancer={type: Other}", "platform.ovirt.loadBalancer", "at the top level"),
        ("platform.ovirt.loadBalancer=UserManaged", "platform.ovirt.loadBalancer", "at the top level"),
    ] {
        assert_problem(&[assignment], path, fragment);
    }
}

#[test]
fn values_are_taken_over() {
    let mirrors =
        config(&["imageContentSources=[{source: quay.io, mirrors: [registry.example.com/quay]}]"]).image_mirrors;
    assert_eq!((mirrors[0].source.as_str(), mirrors[0].mirrors[0].as_str()), ("quay.io", "registry.example.com/quay"));
    let balanced = config(&["platform.ovirt.loadBalancer={type: UserManaged}"]);
    assert_eq!(balanced.load_balancer, landfall_config::LoadBalancer::UserManaged);
    assert_problem(
        &["platform.ovirt.loadBalancer={type: UserManaged}", "loadBalancer=managed"],
        "platform.ovirt.loadBalancer",
        "disagrees with loadBalancer",
    );
}

#[test]
fn nothing_after_a_key_means_no_key() {
    let mut tree = example();
    tree["proxy"] = json!(null);
    tree["compute"] = json!(null);
    tree["metadata"]["creationTimestamp"] = json!(null);
    tree["controlPlane"]["platform"] = json!({ "ovirt": { "format": "", "cpu": null } });
    let parsed = landfall_config::parse_tree(tree).unwrap();
    assert_eq!(parsed.config.compute[0].replicas, 3);
    assert_eq!(parsed.notices, []);
}

#[test]
fn nothing_as_an_item_is_a_mistake() {
    let mut tree = example();
    tree["compute"] = json!([null]);
    assert_eq!(problems_of(tree)[0].to_string().lines().next().unwrap(), "compute[0] must be a mapping, not nothing");
}
