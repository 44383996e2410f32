//! What Landfall adds to a release.

use landfall_platform::FileSet;
use serde_json::{Value, json};

use super::Error;
use crate::{
    Cluster, ClusterMetadata, Credentials, NodeConfig,
    manifests::{
        Manifest, cluster_info, credentials_secret, machine_controller, machine_crds, machine_namespace,
        machine_objects, namespace,
    },
    yaml,
};

/// Directory of the added manifests. The release's own machine objects and `MachineConfig`s are in it too.
const DIRECTORY: &str = "openshift";

/// The added manifests.
///
/// The machine objects' definitions and their namespace are part of the release, which would take ours for its own and
/// change them back with every update. They are added only if the release is told to leave them out, because its
/// capability `MachineAPI` is not enabled. The release's operator for them knows no provider for platform `external` and
/// runs none of its controllers, so Landfall's has the machines to itself.
pub(super) fn manifests(
    cluster: &Cluster<'_>,
    metadata: &ClusterMetadata,
    credentials: Option<&Credentials>,
    has_machine_api: bool,
) -> Result<FileSet, Error> {
    let mut all = vec![cluster_info(cluster, metadata)];
    if !has_machine_api {
        all.push(namespace(machine_namespace(cluster.config.distribution)));
        all.extend(machine_crds()?);
    }
    all.extend(credentials.map(|credentials| credentials_secret(cluster, credentials)));
    all.extend(machine_objects(cluster));
    all.push(controller(cluster));
    let mut files = FileSet::default();
    for manifest in &all {
        files.extend(one_file_each(manifest)?);
    }
    Ok(files)
}

/// The program reads only the first object of a file.
fn one_file_each(manifest: &Manifest) -> Result<FileSet, Error> {
    let several = manifest.objects.len() > 1;
    let stem = manifest.file_name.trim_end_matches(".yaml");
    let files = manifest.objects.iter().enumerate().map(|(index, object)| {
        let number = if several { format!("-{index}") } else { String::new() };
        let path = format!("{DIRECTORY}/99_landfall_{stem}{number}.yaml");
        let contents = yaml::document(&path, object)?.into_bytes();
        Ok((path, landfall_platform::File { contents, mode: manifest.mode }))
    });
    files.collect()
}

/// The machine controller, fitted to what is different on this distribution.
fn controller(cluster: &Cluster<'_>) -> Manifest {
    let mut manifest = machine_controller(cluster);
    let accounts: Vec<Value> = manifest
        .objects
        .iter()
        .filter(|object| object["kind"] == "ServiceAccount")
        .map(|object| json!({ "kind": "ServiceAccount", "name": object["metadata"]["name"], "namespace": object["metadata"]["namespace"] }))
        .collect();
    for deployment in manifest.objects.iter_mut().filter(|object| object["kind"] == "Deployment") {
        let template = &mut deployment["spec"]["template"];
        template["metadata"]["annotations"]["openshift.io/required-scc"] = "privileged".into();
        // The program lies on the host, where the label of its file keeps confined containers out.
        template["spec"]["securityContext"] = json!({ "seLinuxOptions": { "type": "spc_t" } });
        if let Some(tolerations) = template["spec"]["tolerations"].as_array_mut() {
            tolerations
                .push(json!({ "key": "node-role.kubernetes.io/master", "operator": "Exists", "effect": "NoSchedule" }));
        }
    }
    // Without it no pod of the account may use the host's network or files.
    manifest.objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {
            "name": "landfall-machine-controller-host-access",
            "namespace": machine_namespace(cluster.config.distribution),
        },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:openshift:scc:privileged" },
        "subjects": accounts,
    }));
    manifest
}

/// What the bootstrap machine gets in addition.
pub(super) fn bootstrap(_cluster: &Cluster<'_>) -> Result<NodeConfig, Error> {
    Ok(NodeConfig::default())
}
