//! A configuration for the tests of this module.

use landfall_config::InstallConfig;

/// A small OpenShift cluster on oVirt.
pub(super) fn config() -> InstallConfig {
    let text = include_str!("../../tests/fixtures/openshift/install-config.yaml");
    serde_saphyr::from_str::<InstallConfig>(text).expect("the fixture is well formed").with_defaults()
}
