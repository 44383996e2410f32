//! The layers of the architecture, as a table that the build obeys.
//!
//! Arrows point down, never sideways. Dev-dependencies are free, except that a simulator must not see a platform crate even
//! in its tests: written with the client's types, it would prove nothing.

use std::{collections::BTreeMap, process::Command};

use anyhow::{Context, bail};
use serde::Deserialize;

/// What each crate may use. A crate that is missing here is an error, so that a new one gets a layer when it is added.
const MAY_USE: &[(&str, &[&str])] = &[
    // 0: data
    ("landfall-config", &[]),
    // 0: files that survive a crash, from the standard library alone
    ("landfall-durable", &[]),
    // 1: vocabulary
    ("landfall-machine-api", &[]),
    ("landfall-platform", &["landfall-config"]),
    // 2: mechanisms, which do not know each other
    ("landfall-assets", &["landfall-config", "landfall-machine-api", "landfall-platform"]),
    ("landfall-engine", &["landfall-platform"]),
    ("landfall-wire", &["landfall-config", "landfall-durable", "landfall-platform"]),
    ("landfall-workdir", &["landfall-config", "landfall-platform"]),
    // 3: features
    ("landfall-asset-host", &["landfall-durable", "landfall-platform", "landfall-wire"]),
    ("landfall-cluster", &["landfall-platform", "landfall-wire"]),
    // sees platforms only through the traits of the vocabulary
    ("landfall-machines", &["landfall-machine-api", "landfall-platform"]),
    ("landfall-dns", &["landfall-config", "landfall-engine", "landfall-platform", "landfall-wire"]),
    (
        "landfall-platform-ovirt",
        &[
            "landfall-assets",
            "landfall-config",
            "landfall-engine",
            "landfall-machine-api",
            "landfall-platform",
            "landfall-wire",
        ],
    ),
    (
        "landfall-platform-packet",
        &["landfall-config", "landfall-engine", "landfall-machine-api", "landfall-platform", "landfall-wire"],
    ),
    ("landfall-upi", &["landfall-assets", "landfall-config", "landfall-platform"]),
    (
        "landfall-platform-powervm",
        &[
            "landfall-config",
            "landfall-durable",
            "landfall-engine",
            "landfall-machine-api",
            "landfall-platform",
            "landfall-wire",
        ],
    ),
    (
        "landfall-platform-powervs",
        &[
            "landfall-assets",
            "landfall-config",
            "landfall-engine",
            "landfall-machine-api",
            "landfall-platform",
            "landfall-wire",
        ],
    ),
    // 4: programs; the config server of those on machines also runs in the simulator's guests, so that they serve what
    // machines serve
    (
        "landfall-node",
        &[
            "landfall-assets",
            "landfall-cluster",
            "landfall-config",
            "landfall-durable",
            "landfall-engine",
            "landfall-machine-api",
            // with the feature `controller`, which programs have and simulated guests have not
            "landfall-machines",
            "landfall-platform",
            "landfall-platform-ovirt",
            "landfall-platform-packet",
            "landfall-platform-powervm",
            "landfall-platform-powervs",
            "landfall-wire",
        ],
    ),
    (
        "landfall",
        &[
            "landfall-asset-host",
            "landfall-assets",
            "landfall-cluster",
            "landfall-config",
            "landfall-dns",
            "landfall-durable",
            "landfall-engine",
            "landfall-machine-api",
            "landfall-machines",
            "landfall-platform",
            "landfall-platform-ovirt",
            "landfall-platform-packet",
            "landfall-platform-powervm",
            "landfall-platform-powervs",
            "landfall-simulator",
            "landfall-upi",
            "landfall-wire",
            "landfall-workdir",
        ],
    ),
    // inside Nova, which is a program
    ("landfall-nova", &["landfall-engine", "landfall-platform", "landfall-platform-powervm", "landfall-wire"]),
    // beside the layers
    ("landfall-testkit", &["landfall-engine", "landfall-platform"]),
    ("landfall-simulator", &["landfall-node"]),
    // judges from outside, and so knows nothing of what it judges
    ("landfall-e2e", &[]),
    ("xtask", &[]),
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    path: Option<String>,
}

/// Fails with every arrow that is not in the table.
pub(crate) fn check() -> anyhow::Result<()> {
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1", "--locked", "--offline"])
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cannot read what cargo metadata printed")?;
    let wrong = violations(&metadata);
    if !wrong.is_empty() {
        bail!("the layers of docs/architecture.md are broken:\n  {}", wrong.join("\n  "));
    }
    Ok(())
}

fn violations(metadata: &Metadata) -> Vec<String> {
    let may_use: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        let Some(allowed) = may_use.get(package.name.as_str()) else {
            wrong.push(format!("{} has no layer: add it to xtask/src/layers.rs", package.name));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|dependency| dependency.path.is_some()) {
            let test_only = dependency.kind.as_deref() == Some("dev");
            let blind = package.name == "landfall-simulator" && dependency.name.starts_with("landfall-platform-");
            if blind || !test_only && !allowed.contains(&dependency.name.as_str()) {
                wrong.push(format!("{} must not use {}", package.name, dependency.name));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrow(from: &str, to: &str, kind: Option<&str>) -> Metadata {
        let dependency =
            Dependency { name: to.to_owned(), kind: kind.map(str::to_owned), path: Some("somewhere".to_owned()) };
        Metadata { packages: vec![Package { name: from.to_owned(), dependencies: vec![dependency] }] }
    }

    #[test]
    fn arrows_point_down() {
        assert!(violations(&arrow("landfall-platform", "landfall-config", None)).is_empty());
        assert_eq!(violations(&arrow("landfall-config", "landfall-platform", None)).len(), 1);
        assert_eq!(violations(&arrow("landfall-assets", "landfall-workdir", None)).len(), 1);
    }

    #[test]
    fn tests_may_look_around_but_a_simulator_stays_blind() {
        assert!(violations(&arrow("landfall-platform-ovirt", "landfall-simulator", Some("dev"))).is_empty());
        assert_eq!(violations(&arrow("landfall-simulator", "landfall-platform-ovirt", Some("dev"))).len(), 1);
    }

    #[test]
    fn a_new_crate_needs_a_layer() {
        assert_eq!(violations(&arrow("landfall-new", "landfall-config", None)).len(), 1);
    }
}
