//! Target `ignition-configs`: what machines boot with, from the manifests as the user left them.

use std::path::Path;

use landfall_platform::{File, FileSet, InfraId};
use serde::Deserialize;

use super::{
    Error, OpenshiftInstall, Rendered, Target, VersionInfo,
    bootstrap::Bootstrap,
    copy::WorkingCopy,
    manifest,
    manifests::{CONFIG_SERVER_SECRET, DIRECTORIES, USER_DATA_SECRETS, required},
    node::node_config,
    pointer, state,
    state::State,
};
use crate::{Cluster, MachineRole, metadata};

/// The program rewrites this manifest on the way into the bootstrap machine's config.
const REWRITTEN: &str = "manifests/cvo-overrides.yaml";
const CLUSTER_CONFIG: &str = "manifests/cluster-config.yaml";
const METADATA: &str = "metadata.json";

#[derive(Deserialize)]
struct Metadata {
    #[serde(rename = "clusterID")]
    cluster_id: uuid::Uuid,
    #[serde(rename = "infraID")]
    infra_id: String,
}

/// Renders what machines boot with, and what a user needs to reach the cluster.
///
/// `manifests` are those of the install directory, below `manifests/` and `openshift/`, the user's own included. `state` is
/// that of [`manifests()`](super::manifests()), not of an earlier call of this function: certificates that are valid for a
/// day only are thus issued anew each time. The returned state holds all that was issued, for commands of the program that
/// want it, such as `gather`.
///
/// A user who wants more on every machine of a role adds a `MachineConfig` to `openshift/`. The program can make one of an
/// edited `master.ign`, but then renders all machine manifests anew and drops the user's; so it is not given the file.
pub fn ignition_configs(
    program: &dyn OpenshiftInstall,
    cluster: &Cluster<'_>,
    manifests: &FileSet,
    state: &File,
    scratch: &Path,
) -> Result<Rendered, Error> {
    let version = program.version()?;
    version.check(cluster.config)?;
    let previous = State::parse(&state.contents)?;
    check_inputs(manifests, &previous, &version)?;

    let copy = WorkingCopy::new(scratch)?;
    copy.write(state::FILE, &state.contents)?;
    for (path, file) in given(manifests) {
        copy.write(path, &file.contents)?;
    }
    let warnings =
        program.create(Target::IgnitionConfigs, copy.path()).map_err(|error| error.without_secrets(cluster.config))?;
    let read = |path: &str| required(&copy, path, &version);
    let mut files = FileSet::default();
    for path in ["auth/kubeconfig", "auth/kubeadmin-password"] {
        files.insert(path, File::private(read(path)?));
    }
    for path in ["master.ign", "worker.ign"] {
        files.insert(path, File::private(pointer::point_at(path, &read(path)?, &cluster.internal_host())?));
    }
    files.insert("bootstrap.ign", File::private(bootstrap(&read("bootstrap.ign")?, manifests, cluster, &version)?));
    files.insert(METADATA, File::public(cluster_metadata(&read(METADATA)?, cluster)?));
    let mut state = State::parse(&read(state::FILE)?)?;
    copy.close()?;

    state.set_written_by(&version.version);
    let infra_id = cluster.infra_id.clone();
    Ok(Rendered { files, state: File::private(state.to_json()), infra_id, version, warnings })
}

/// The files that are handed to the program.
fn given(manifests: &FileSet) -> impl Iterator<Item = (&str, &File)> {
    let in_directory = |path: &str| DIRECTORIES.iter().any(|directory| path.starts_with(&format!("{directory}/")));
    manifests.iter().filter(move |(path, _)| in_directory(path) && crate::manifests::is_manifest(path))
}

fn check_inputs(manifests: &FileSet, state: &State, version: &VersionInfo) -> Result<(), Error> {
    for path in [CLUSTER_CONFIG].into_iter().chain(USER_DATA_SECRETS) {
        if manifests.get(path).is_none() {
            return Err(Error::ManifestMissing { path: path.to_owned() });
        }
    }
    match state.written_by() {
        Some(rendered) if rendered != version.version => {
            Err(Error::VersionChanged { rendered: rendered.to_owned(), found: version.version.clone() })
        }
        _ => Ok(()),
    }
}

/// The bootstrap machine's config: the release's, with Landfall's part, once it is sure that no manifest was passed over.
fn bootstrap(
    config: &[u8],
    manifests: &FileSet,
    cluster: &Cluster<'_>,
    version: &VersionInfo,
) -> Result<Vec<u8>, Error> {
    let mut bootstrap = Bootstrap::parse(config)?;
    for (path, file) in given(manifests).filter(|(path, _)| *path != REWRITTEN) {
        if bootstrap.contents(&format!("/opt/openshift/{path}"))?.as_deref() != Some(&file.contents) {
            return Err(Error::ManifestIgnored { path: path.to_owned() });
        }
    }
    if let Some(secret) = manifests.get(CONFIG_SERVER_SECRET) {
        for (key, path) in [("tls.crt", "machine-config-server.crt"), ("tls.key", "machine-config-server.key")] {
            let contents = manifest::secret_value(CONFIG_SERVER_SECRET, &secret.contents, key)?;
            bootstrap.set_contents(&format!("/opt/openshift/tls/{path}"), &contents)?;
        }
    }
    bootstrap.add(node_config(cluster, MachineRole::Bootstrap, version.image()?)?, version)?;
    Ok(bootstrap.to_json())
}

/// The program's metadata in the form in which Landfall finds a cluster again.
fn cluster_metadata(contents: &[u8], cluster: &Cluster<'_>) -> Result<String, Error> {
    let unusable = |error: serde_json::Error| Error::Unusable { path: METADATA.to_owned(), reason: error.to_string() };
    let found: Metadata = serde_json::from_slice(contents).map_err(unusable)?;
    let path = || METADATA.to_owned();
    let infra_id: InfraId = found.infra_id.parse().map_err(|source| Error::InfraId { path: path(), source })?;
    if infra_id != *cluster.infra_id {
        let expected = cluster.infra_id.clone();
        return Err(Error::InfraIdChanged { path: path(), expected, found: found.infra_id });
    }
    Ok(metadata::ClusterMetadata::with_id(cluster, found.cluster_id).to_json())
}
