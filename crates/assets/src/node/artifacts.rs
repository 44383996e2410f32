//! Programs that machines download, with the digests that they must have.

use landfall_config::{Architecture, InstallConfig};

use super::{NodeContents, NodeFile, paths};
use crate::{Cluster, Error};

/// Versions of what goes with Kubernetes; a new one needs its digests in the table too (`scripts/update-digests`).
const CNI_PLUGINS_VERSION: &str = "1.9.1";
const CONTAINERD_VERSION: &str = "2.3.4";
const RUNC_VERSION: &str = "1.4.3";

/// Digests by path below the download site.
const DIGESTS: &str = include_str!("digests.txt");

const KUBERNETES_SITE: &str = "https://dl.k8s.io";
const GITHUB: &str = "https://github.com";

/// Archives that `unpack` expects in the download directory, and runc, which is no archive.
pub(super) const KUBERNETES_ARCHIVE: &str = "kubernetes-node.tar.gz";
pub(super) const CONTAINERD_ARCHIVE: &str = "containerd.tar.gz";
pub(super) const CNI_ARCHIVE: &str = "cni-plugins.tar.gz";

/// A file on a download site.
struct Artifact {
    site: &'static str,
    path: String,
    destination: String,
    mode: u32,
}

/// Everything that a Kubernetes machine downloads.
pub(crate) fn downloads(cluster: &Cluster<'_>) -> Result<Vec<NodeFile>, Error> {
    let config = cluster.config;
    let mut files: Vec<NodeFile> =
        artifacts(config).iter().map(|artifact| artifact.download(config)).collect::<Result<_, _>>()?;
    files.extend(node_agent(cluster)?);
    Ok(files)
}

fn artifacts(config: &InstallConfig) -> [Artifact; 4] {
    let architecture = config.architecture().name();
    let kubernetes = config.kubernetes_version();
    let archive =
        |site, path, name| Artifact { site, path, destination: format!("{}/{name}", paths::DOWNLOADS), mode: 0o600 };
    [
        archive(
            KUBERNETES_SITE,
            format!("v{kubernetes}/kubernetes-node-linux-{architecture}.tar.gz"),
            KUBERNETES_ARCHIVE,
        ),
        archive(
            GITHUB,
            format!(
                "containerd/containerd/releases/download/v{CONTAINERD_VERSION}/\
                 containerd-static-{CONTAINERD_VERSION}-linux-{architecture}.tar.gz"
            ),
            CONTAINERD_ARCHIVE,
        ),
        archive(
            GITHUB,
            format!(
                "containernetworking/plugins/releases/download/v{CNI_PLUGINS_VERSION}/\
                 cni-plugins-linux-{architecture}-v{CNI_PLUGINS_VERSION}.tgz"
            ),
            CNI_ARCHIVE,
        ),
        Artifact {
            site: GITHUB,
            path: format!("opencontainers/runc/releases/download/v{RUNC_VERSION}/runc.{architecture}"),
            destination: format!("{}/runc", paths::PROGRAMS),
            mode: 0o755,
        },
    ]
}

impl Artifact {
    fn download(&self, config: &InstallConfig) -> Result<NodeFile, Error> {
        let root = config.binary_mirror.as_ref().map_or(self.site, |mirror| mirror.as_str().trim_end_matches('/'));
        let contents = NodeContents::Download { url: format!("{root}/{}", self.path), digest: self.digest(config)? };
        Ok(NodeFile { path: self.destination.clone(), mode: self.mode, contents })
    }

    /// The user's digest goes before the built-in one, because a mirror may hold builds of the site's own.
    fn digest(&self, config: &InstallConfig) -> Result<String, Error> {
        let file_name = self.path.rsplit('/').next().unwrap_or(&self.path);
        let given = config.binary_digests.get(file_name).map(String::as_str);
        let digest = given.or_else(|| built_in_digest(&self.path));
        digest.map(str::to_owned).ok_or_else(|| Error::UnknownDigest {
            file: self.path.clone(),
            file_name: file_name.to_owned(),
            known: known_kubernetes_versions().join(", "),
        })
    }
}

/// `landfall-node` itself, if it is not part of the operating system image.
pub(crate) fn node_agent(cluster: &Cluster<'_>) -> Result<Option<NodeFile>, Error> {
    let Some(agent) = &cluster.config.node_agent else { return Ok(None) };
    let architecture: Architecture = cluster.config.architecture();
    let digest = agent
        .sha512
        .get(&architecture)
        .ok_or_else(|| Error::NodeAgentDigest { architecture: architecture.name().to_owned() })?;
    Ok(Some(NodeFile {
        path: super::agent_path(cluster).to_owned(),
        mode: 0o755,
        contents: NodeContents::Download {
            url: agent.url.replace("{arch}", architecture.name()),
            digest: format!("sha512-{digest}"),
        },
    }))
}

fn table() -> impl Iterator<Item = (&'static str, &'static str)> {
    DIGESTS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

fn built_in_digest(path: &str) -> Option<&'static str> {
    table().find(|(known, _)| *known == path).map(|(_, digest)| digest)
}

/// The versions of Kubernetes whose digests are built in, newest first.
pub fn known_kubernetes_versions() -> Vec<&'static str> {
    let mut versions: Vec<&str> =
        table().filter_map(|(path, _)| path.strip_prefix('v')?.split_once('/')).map(|(version, _)| version).collect();
    versions.dedup();
    versions
}

#[cfg(test)]
mod tests {
    use landfall_config::DEFAULT_KUBERNETES_VERSION;

    use super::*;

    #[test]
    fn the_table_is_well_formed() {
        for (path, digest) in table() {
            let (kind, hex) = digest.split_once('-').unwrap();
            let length = match kind {
                "sha512" => 128,
                "sha256" => 64,
                other => panic!("{path}: {other}"),
            };
            assert_eq!(hex.len(), length, "{path}");
            assert!(hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)), "{path}");
        }
    }

    #[test]
    fn the_default_version_is_known() {
        assert_eq!(known_kubernetes_versions().first(), Some(&DEFAULT_KUBERNETES_VERSION));
    }
}
