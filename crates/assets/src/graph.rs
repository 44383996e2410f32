//! The assets and what each is made from, for `landfall graph`.

/// An asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its name, unique in the graph.
    pub name: &'static str,
    /// The names of the assets that it is made from.
    pub depends_on: &'static [&'static str],
    /// The files that it is written to, as patterns; empty if it lives only in memory.
    pub files: &'static [&'static str],
}

/// All assets; each comes after those that it depends on.
pub fn graph() -> &'static [Asset] {
    const fn asset(name: &'static str, depends_on: &'static [&'static str], files: &'static [&'static str]) -> Asset {
        Asset { name, depends_on, files }
    }
    const GRAPH: &[Asset] = &[
        asset("install-config", &[], &["install-config.yaml"]),
        asset("infra-id", &["install-config"], &[]),
        asset("secrets", &["install-config", "infra-id"], &[".landfall/secrets/*"]),
        asset("certificates", &["install-config", "secrets"], &[]),
        asset("credentials", &["install-config"], &[]),
        asset("pointer-configs", &["install-config", "secrets"], &["master.ign", "worker.ign"]),
        asset("manifests", &["install-config", "infra-id", "credentials", "pointer-configs"], &["manifests/*"]),
        asset(
            "role-configs",
            &["install-config", "infra-id", "secrets", "certificates"],
            &["config-server/master.ign", "config-server/worker.ign"],
        ),
        asset(
            "bootstrap",
            &["install-config", "infra-id", "secrets", "certificates", "role-configs", "manifests"],
            &["bootstrap.ign"],
        ),
        asset("metadata", &["install-config", "infra-id", "secrets"], &["metadata.json"]),
        asset("kubeconfig", &["install-config", "secrets", "certificates"], &["auth/kubeconfig"]),
    ];
    GRAPH
}
