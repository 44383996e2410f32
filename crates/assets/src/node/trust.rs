//! CA certificates that the machines trust in addition.

use super::{NodeConfig, NodeFile, NodeUnit, paths};

/// Puts the bundle where each operating system looks for additions, and has its own program take them up.
pub(super) fn config(bundle: &str) -> NodeConfig {
    NodeConfig {
        files: vec![
            // Fedora CoreOS.
            NodeFile::public("/etc/pki/ca-trust/source/anchors/landfall.crt", bundle),
            // Flatcar.
            NodeFile::public("/etc/ssl/certs/landfall.pem", bundle),
            NodeFile::executable(
                format!("{}/update-trust", paths::SCRIPTS),
                include_str!("../../templates/update-trust"),
            ),
        ],
        units: vec![NodeUnit::enabled(
            "landfall-trust.service",
            include_str!("../../templates/units/landfall-trust.service"),
        )],
    }
}
