//! Target `manifests`: the release's, with Landfall's among them.

use std::path::Path;

use landfall_config::InstallConfig;
use landfall_platform::{File, FileSet, InfraId};
use serde::Deserialize;

use super::{
    Error, OpenshiftInstall, Rendered, Target, VersionInfo, additions, config_server, copy::WorkingCopy,
    install_config, manifest, pointer, state, state::State,
};
use crate::{Cluster, ClusterMetadata, Credentials};

/// The directories that the program reads manifests from.
pub(super) const DIRECTORIES: [&str; 2] = ["manifests", "openshift"];
/// Certificate and key of the machine config server.
pub(super) const CONFIG_SERVER_SECRET: &str = "manifests/machine-config-server-tls-secret.yaml";
/// The pointer configs for machines that are added later.
pub(super) const USER_DATA_SECRETS: [&str; 2] = [
    "openshift/99_openshift-cluster-api_master-user-data-secret.yaml",
    "openshift/99_openshift-cluster-api_worker-user-data-secret.yaml",
];
const CLUSTER_VERSION: &str = "manifests/cvo-overrides.yaml";
const INFRASTRUCTURE: &str = "manifests/cluster-infrastructure-02-config.yml";

const NO_NODE_AGENT: &str = "nodeAgent is not set, so the machines must have landfall-node in their operating system image; \
    the images of OpenShift and OKD do not";

#[derive(Deserialize)]
struct Infrastructure {
    status: InfrastructureStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InfrastructureStatus {
    infrastructure_name: String,
}

#[derive(Deserialize)]
struct ClusterVersion {
    spec: ClusterVersionSpec,
}

#[derive(Deserialize)]
struct ClusterVersionSpec {
    capabilities: Option<Capabilities>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Capabilities {
    baseline_capability_set: Option<String>,
    #[serde(default)]
    additional_enabled_capabilities: Vec<String>,
}

/// Renders the manifests of a cluster, below `manifests/` and `openshift/`.
///
/// `previous` is the state of an earlier rendering, if there was one: the cluster then keeps its infra id, also if the
/// install-config has changed since. Without credentials the Secret for them is left out; the machine controller waits for
/// it then. The working copy is made below `scratch`.
pub fn manifests(
    program: &dyn OpenshiftInstall,
    config: &InstallConfig,
    credentials: Option<&Credentials>,
    previous: Option<&File>,
    scratch: &Path,
) -> Result<Rendered, Error> {
    let version = program.version()?;
    version.check(config)?;
    let previous = previous.map(|file| State::parse(&file.contents)).transpose()?;
    let copy = WorkingCopy::new(scratch)?;
    let mut warnings =
        create(program, &copy, config, previous.as_ref()).map_err(|error| error.without_secrets(config))?;
    if config.node_agent.is_none() {
        warnings.push(NO_NODE_AGENT.to_owned());
    }
    let mut files = FileSet::default();
    for directory in DIRECTORIES {
        for (path, contents) in copy.read_directory(directory)? {
            files.insert(path, manifest::file(contents));
        }
    }
    let mut state = State::parse(&required(&copy, state::FILE, &version)?)?;
    copy.close()?;

    let infra_id = infra_id(&files, previous.as_ref(), &version)?;
    let cluster = Cluster { config, infra_id: &infra_id };
    point_at_virtual_address(&mut files, &cluster, &state, &version)?;
    let metadata = ClusterMetadata::with_id(&cluster, state.cluster_id()?);
    let has_machine_api = has_machine_api(&rendered(&files, CLUSTER_VERSION, &version)?.contents)?;
    files.extend(additions::manifests(&cluster, &metadata, credentials, version.image()?, has_machine_api)?);
    state.set_written_by(&version.version);
    Ok(Rendered { files, state: File::private(state.to_json()), infra_id, version, warnings })
}

/// Has the program render, for a new cluster or for one that has its infra id.
fn create(
    program: &dyn OpenshiftInstall,
    copy: &WorkingCopy,
    config: &InstallConfig,
    previous: Option<&State>,
) -> Result<Vec<String>, Error> {
    copy.write(install_config::FILE, install_config(config).as_bytes())?;
    let mut warnings = Vec::new();
    if let Some(previous) = previous {
        // An install-config file that is not in the state counts as changed. So it is brought into the state first, and
        // what is rendered from there keeps the id.
        copy.write(state::FILE, &previous.seed()?.to_json())?;
        warnings = program.create(Target::InstallConfig, copy.path())?;
        copy.remove(install_config::FILE)?;
    }
    warnings.extend(program.create(Target::Manifests, copy.path())?);
    warnings.dedup();
    Ok(warnings)
}

/// The infra id that the program put into the manifests, which must be the one that the cluster has if it has one.
fn infra_id(files: &FileSet, previous: Option<&State>, version: &VersionInfo) -> Result<InfraId, Error> {
    let contents = &rendered(files, INFRASTRUCTURE, version)?.contents;
    let found = manifest::read::<Infrastructure>(INFRASTRUCTURE, contents)?.status.infrastructure_name;
    let path = || INFRASTRUCTURE.to_owned();
    let infra_id: InfraId = found.parse().map_err(|source| Error::InfraId { path: path(), source })?;
    match previous.map(State::infra_id).transpose()? {
        Some(expected) if expected != infra_id => Err(Error::InfraIdChanged { path: path(), expected, found }),
        _ => Ok(infra_id),
    }
}

/// Whether the release brings the definitions of machine objects: they are in all of its sets of capabilities but `None`.
fn has_machine_api(contents: &[u8]) -> Result<bool, Error> {
    let spec = manifest::read::<ClusterVersion>(CLUSTER_VERSION, contents)?.spec;
    Ok(spec.capabilities.is_none_or(|capabilities| {
        capabilities.baseline_capability_set.as_deref() != Some("None")
            || capabilities.additional_enabled_capabilities.iter().any(|name| name == "MachineAPI")
    }))
}

/// See [`config_server`].
fn point_at_virtual_address(
    files: &mut FileSet,
    cluster: &Cluster<'_>,
    state: &State,
    version: &VersionInfo,
) -> Result<(), Error> {
    let addresses: &[_] = if cluster.manages_endpoint() { cluster.config.api_vips() } else { &[] };
    if !addresses.is_empty() {
        let certificate = config_server::certificate(&state.root_ca()?, &state.config_server()?, addresses)?;
        let secret = &rendered(files, CONFIG_SERVER_SECRET, version)?.contents;
        let secret =
            manifest::with_secret_value(CONFIG_SERVER_SECRET, secret, "tls.crt", |_| Ok(certificate.into_bytes()))?;
        files.replace(CONFIG_SERVER_SECRET, File::private(secret));
    }
    for path in USER_DATA_SECRETS {
        let secret = &rendered(files, path, version)?.contents;
        let host = cluster.internal_host();
        let secret = manifest::with_secret_value(path, secret, "userData", |old| pointer::point_at(path, old, &host))?;
        files.replace(path, File::private(secret));
    }
    Ok(())
}

fn rendered<'a>(files: &'a FileSet, path: &str, version: &VersionInfo) -> Result<&'a File, Error> {
    files.get(path).ok_or_else(|| missing(path, version))
}

/// A file that the program must have written.
pub(super) fn required(copy: &WorkingCopy, path: &str, version: &VersionInfo) -> Result<Vec<u8>, Error> {
    copy.read(path)?.ok_or_else(|| missing(path, version))
}

fn missing(path: &str, version: &VersionInfo) -> Error {
    Error::OutputMissing { version: version.version.clone(), path: path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_when_a_release_leaves_machine_objects_out() {
        for (capabilities, expected) in [
            ("", true),
            ("  capabilities: {baselineCapabilitySet: vCurrent}\n", true),
            ("  capabilities: {baselineCapabilitySet: None}\n", false),
            ("  capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [MachineAPI]}\n", true),
        ] {
            let manifest = format!("kind: ClusterVersion\nspec:\n  channel: stable-4.22\n{capabilities}");
            assert_eq!(has_machine_api(manifest.as_bytes()).expect("read"), expected, "{capabilities}");
        }
    }
}
