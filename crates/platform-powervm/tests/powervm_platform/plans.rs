//! Plans, pinned.

use landfall_config::InstallConfig;
use landfall_platform::Stage;
use landfall_platform_powervm::{Facts, plan};
use serde_json::{Value, json};

fn configured(masters: u32, platform: &Value) -> InstallConfig {
    let mut tree: Value =
        landfall_config::parse_yaml(include_bytes!("../../../../examples/powervm/install-config.yaml")).unwrap();
    tree["controlPlane"]["replicas"] = json!(masters);
    for (key, value) in platform.as_object().unwrap() {
        tree["platform"]["powervm"][key] = value.clone();
    }
    landfall_config::parse_tree(tree).unwrap_or_else(|error| panic!("{error:?}")).config
}

/// A plan as a person reads it, and after that what each step makes.
fn show(config: &InstallConfig, stage: Stage) -> String {
    let plan = plan(config, &"demo-x7k2p".parse().unwrap(), &Facts, stage).unwrap();
    let lines = plan.steps().map(|spec| {
        let needs: Vec<&str> = spec.needs.iter().map(landfall_platform::StepId::as_str).collect();
        format!("{}: {} within {:?}, after {needs:?}\n    {}", spec.id, spec.title, spec.timeout, spec.desired)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn masters_are_spread_over_the_servers() {
    insta::assert_snapshot!(show(&configured(3, &json!({})), Stage::Bootstrapping));
}

#[test]
fn a_cluster_without_its_bootstrap_machine_is_otherwise_the_same() {
    let whole = show(&configured(3, &json!({})), Stage::Bootstrapping);
    let pivoted = show(&configured(3, &json!({})), Stage::Pivoted);
    let without: Vec<&str> = whole.lines().filter(|line| !line.contains("bootstrap")).collect();
    assert_eq!(pivoted.lines().collect::<Vec<_>>(), without);
}

#[test]
fn every_setting_reaches_the_plan() {
    let platform = json!({
        "image": { "disk": "https://example.com/fcos.raw.gz" },
        "storage": { "sharedStoragePool": { "name": "pool1", "tier": "fast" } },
        "network": { "openVswitch": { "bridge": "br-cluster" } },
        "defaultMachinePlatform": {
            "processors": 4, "sharing": "dedicated", "memoryGiB": 32, "compatibilityMode": "POWER9", "diskGiB": 200,
            "hosts": ["power-c", "power-b"],
        },
    });
    insta::assert_snapshot!(show(&configured(1, &platform), Stage::Bootstrapping));
}
