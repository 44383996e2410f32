//! `explain` and the schema.

use landfall_config::{explain, schema};

#[test]
fn the_whole_file() {
    insta::assert_snapshot!(explain(None).unwrap());
}

#[test]
fn some_fields() {
    let paths = [
        "platform.ovirt",
        "platform.ovirt.api_vips",
        "controlPlane.platform.ovirt.cpu.cores",
        "compute",
        "compute.replicas",
        "networking.networkType",
        "networking.clusterNetwork",
        "dns",
        "binaryDigests",
        "nodeAgent.sha512",
        "timeouts.image",
        "platform.ovirt.defaultMachinePlatform.hugepages",
        "pki.caValidityDays",
        "platform.ovirt.image",
    ];
    let texts: Vec<String> = paths.iter().map(|path| explain(Some(path)).unwrap()).collect();
    insta::assert_snapshot!(texts.join(&format!("\n{}\n", "-".repeat(40))));
}

#[test]
fn the_schema() {
    insta::assert_json_snapshot!(schema());
}
