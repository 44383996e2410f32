//! What Landfall adds to a release.

use landfall_config::Role;
use landfall_platform::{File, FileSet};
use serde_json::{Value, json};

use super::{Error, machine_config::machine_config, node::node_config};
use crate::{
    Cluster, ClusterMetadata, Credentials,
    manifests::{
        Duties, Manifest, cloud_controller_manager, cluster_info, credentials_secret, machine_controller, machine_crds,
        machine_namespace, machine_objects, namespace,
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
    release_image: &str,
    has_machine_api: bool,
) -> Result<FileSet, Error> {
    let mut all = vec![cluster_info(cluster, metadata)];
    for role in [Role::Master, Role::Worker] {
        all.push(machine_config(role, node_config(cluster, role.into(), release_image)?)?);
    }
    if cluster.config.manages_machines() {
        if !has_machine_api {
            all.push(namespace(machine_namespace(cluster.config.distribution)));
            all.extend(machine_crds(cluster));
        }
        all.extend(credentials.map(|credentials| credentials_secret(cluster, credentials)));
        all.extend(machine_objects(cluster));
        // Where the release has a machine API, its controllers look after sets, health and certificates.
        let duties = if has_machine_api { Duties::MachinesOnly } else { Duties::All };
        all.push(controller(cluster, release_image, duties));
    }
    all.extend(cloud_controller_manager(cluster, credentials));
    let mut files = FileSet::default();
    for manifest in &all {
        files.extend(one_file_each(manifest)?);
    }
    Ok(files)
}

/// The program reads only the first object of a file.
fn one_file_each(manifest: &Manifest) -> Result<FileSet, Error> {
    let stem = manifest.file_name.trim_end_matches(".yaml");
    let several = manifest.objects.len() > 1;
    let files = manifest.objects.iter().enumerate().map(|(index, object)| {
        let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
        let suffix = if several { format!("-{index}-{kind}") } else { String::new() };
        let path = format!("{DIRECTORY}/99_landfall_{stem}{suffix}.yaml");
        let contents = yaml::document(&path, object)?.into_bytes();
        Ok((path, File { contents, mode: manifest.mode }))
    });
    files.collect()
}

/// The machine controller, fitted to what is different on this distribution.
fn controller(cluster: &Cluster<'_>, release_image: &str, duties: Duties) -> Manifest {
    let mut manifest = machine_controller(cluster, duties);
    let accounts: Vec<Value> = manifest
        .objects
        .iter()
        .filter(|object| object["kind"] == "ServiceAccount")
        .map(|object| {
            let metadata = &object["metadata"];
            json!({ "kind": "ServiceAccount", "name": metadata["name"], "namespace": metadata["namespace"] })
        })
        .collect();
    for deployment in manifest.objects.iter_mut().filter(|object| object["kind"] == "Deployment") {
        let template = &mut deployment["spec"]["template"];
        template["metadata"]["annotations"]["openshift.io/required-scc"] = "privileged".into();
        // The program lies on the host, where the label of its file keeps confined containers out.
        template["spec"]["securityContext"] = json!({ "seLinuxOptions": { "type": "spc_t" } });
        // What is in the image does not matter, the program comes from the host. But any other image than the release's own
        // might not be there at a site without access to the outside.
        for container in template["spec"]["containers"].as_array_mut().into_iter().flatten() {
            container["image"] = release_image.into();
        }
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
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "system:openshift:scc:privileged",
        },
        "subjects": accounts,
    }));
    manifest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openshift::testing;

    #[test]
    fn brings_definitions_where_the_release_has_none() {
        let config = testing::config();
        let infra_id = "demo-x7k2p".parse().expect("an infra id");
        let cluster = Cluster { config: &config, infra_id: &infra_id };
        let metadata = ClusterMetadata::with_id(&cluster, uuid::Uuid::nil());
        let added = |has_machine_api| {
            let files = manifests(&cluster, &metadata, None, "quay.io/release", has_machine_api).expect("rendered");
            let names = files.iter().map(|(path, _)| path.to_owned());
            names.filter(|path| path.contains("crd") || path.contains("namespace")).collect::<Vec<_>>()
        };
        assert_eq!(added(true), [] as [&str; 0]);
        assert_eq!(
            added(false),
            [
                "openshift/99_landfall_00-namespace-openshift-machine-api.yaml",
                "openshift/99_landfall_10-crd-machine.yaml",
                "openshift/99_landfall_10-crd-machinehealthcheck.yaml",
                "openshift/99_landfall_10-crd-machineset.yaml",
            ]
        );
    }
}
