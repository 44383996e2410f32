//! What holds for every input.

use landfall_config::{ConfigError, InstallConfig, parse, parse_tree};
use proptest::prelude::*;
use serde_json::Value;

use crate::{
    generated::{anything, damaged, fitting},
    support::{EXAMPLE, changed},
};

/// What holds for every configuration that was accepted.
fn check_accepted(tree: Value) {
    match parse_tree(tree) {
        Ok(parsed) => {
            let config = parsed.config;
            assert_eq!(config.validate().0, []);
            assert_eq!(config.clone().with_defaults(), config);
            let again = parse(config.to_yaml().as_bytes()).unwrap_or_else(|e| panic!("{e}\n{}", config.to_yaml()));
            assert_eq!(again.config, config);
        }
        Err(ConfigError::Invalid(problems)) => {
            for problem in &problems {
                // The walk along the schema finds everything that would stop the types from being made.
                assert!(!problem.rule.starts_with("cannot be read"), "{problem}");
                assert!(problem.to_string().lines().count() <= 2, "{problem:?}");
            }
        }
        Err(other) => panic!("a tree is not text: {other}"),
    }
}

/// A change to the example that leaves it good, so that rules about good files are exercised too.
fn good_changes() -> impl Strategy<Value = Vec<String>> {
    use prop::sample::{select, subsequence};
    let sizes = (2048_u32..=100_000, 16_u32..=500, 1_u32..=7, 0_u32..=50);
    let fields = vec![
        "distribution=okd",
        "loadBalancer=userManaged",
        "dns={manual: {}}",
        "labels.team=infra",
        "compute=[]",
        "platform.ovirt.affinityGroups=[]",
        "controlPlane.architecture=ppc64le",
        "pki.keyAlgorithm=rsa-2048",
        "version=",
        "platform.ovirt.image=",
        "networking.machineNetwork=",
        "controlPlane.platform.ovirt.vmType=desktop",
        "additionalTrustBundle=",
        "sshKey=",
        "timeouts.image=90m",
        "controlPlane.name=",
    ];
    let vips = select(vec![("192.0.2.7", "192.0.2.8"), ("192.0.2.100", "192.0.2.254")]);
    (sizes, subsequence(fields.clone(), 0..=fields.len()), vips).prop_map(
        |((memory, disk, masters, workers), fields, vips)| {
            let mut changes = vec![
                "pullSecret={\"auths\":{\"quay.io\":{\"auth\":\"eDp5\"}}}".to_owned(),
                format!("controlPlane.platform.ovirt={{memoryMB: {memory}, osDisk: {{sizeGB: {disk}}}}}"),
                format!("controlPlane.replicas={masters}"),
                format!("compute[0].replicas={workers}"),
                format!("platform.ovirt.api_vips=[{}]", vips.0),
                format!("platform.ovirt.ingress_vips=[{}]", vips.1),
            ];
            changes.extend(fields.into_iter().map(str::to_owned));
            changes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_tree(tree in anything()) {
        check_accepted(tree);
    }

    #[test]
    fn any_damaged_tree(tree in damaged()) {
        check_accepted(tree);
    }

    #[test]
    fn good_files_stay_good(changes in good_changes()) {
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        let tree = changed(&changes);
        prop_assert!(parse_tree(tree.clone()).is_ok(), "{:?}", parse_tree(tree));
        check_accepted(tree);
    }

    /// Not only accepted ones: defaults and validation meet configurations that programs put together as well.
    #[test]
    fn any_configuration(tree in fitting()) {
        let config: InstallConfig = serde_json::from_value(tree).unwrap();
        let _ = config.validate();
        let config = config.with_defaults();
        let _ = config.validate();
        prop_assert_eq!(config.clone().with_defaults(), config.clone());
        let written = landfall_config::parse_yaml(config.to_yaml().as_bytes()).unwrap();
        prop_assert_eq!(serde_json::from_value::<InstallConfig>(written).unwrap(), config);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn any_edit_of_a_good_file(at in any::<prop::sample::Index>(), removed in 0_usize..20, added in "[\\PC\n\t\r]{0,20}") {
        let bytes = EXAMPLE.as_bytes();
        let at = at.index(bytes.len());
        let rest = &bytes[(at + removed).min(bytes.len())..];
        let _ = parse(&[&bytes[..at], added.as_bytes(), rest].concat());
    }
}
