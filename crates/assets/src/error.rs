//! What can go wrong while assets are rendered.

use crate::MachineRole;

/// Why assets could not be rendered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The crypto library could not make a key.
    #[error("cannot make the private key '{name}'")]
    MakeKey {
        /// Which key.
        name: String,
        /// What the library said.
        source: rcgen::Error,
    },
    /// The crypto library could not make a certificate.
    #[error("cannot issue the certificate '{name}'")]
    IssueCertificate {
        /// Which certificate.
        name: String,
        /// What the library said.
        source: rcgen::Error,
    },
    /// A secret that an earlier run stored is gone.
    #[error("the secret {path} is missing; restore it, or remove all of the directory to start with new secrets")]
    SecretMissing {
        /// Its path.
        path: String,
    },
    /// A secret that an earlier run stored cannot be read.
    #[error(
        "the secret {path} cannot be used: {reason}; restore it, or remove all of the directory to start with new secrets"
    )]
    SecretUnusable {
        /// Its path.
        path: String,
        /// Problem with the contents.
        reason: String,
    },
    /// A text that should be a certificate is none.
    #[error("not a certificate in PEM form: {reason}")]
    NotACertificate {
        /// Problem with the contents.
        reason: String,
    },
    /// An Ignition config that a user may have edited cannot be read.
    #[error("cannot read the Ignition config '{name}'")]
    ReadIgnition {
        /// Name of the config.
        name: String,
        /// What the parser said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A compressed file in an Ignition config cannot be unpacked.
    #[error("cannot unpack {path} in the Ignition config '{name}'")]
    ReadIgnitionFile {
        /// Name of the config.
        name: String,
        /// The file's path on the machine.
        path: String,
        /// Problem with the contents.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The Ignition config of a role has another spec version than Landfall writes.
    #[error("the Ignition config '{name}' has a spec version other than 3.3.0; set ignition.version to 3.3.0")]
    IgnitionVersion {
        /// Name of the config.
        name: String,
    },
    /// Serialisation failed, which the types should make impossible.
    #[error("cannot write {what} as JSON")]
    WriteJson {
        /// What was written.
        what: String,
        /// What the serialiser said.
        source: serde_json::Error,
    },
    /// Serialisation failed, which the types should make impossible.
    #[error("cannot write {what} as YAML")]
    WriteYaml {
        /// What was written.
        what: String,
        /// What the serialiser said.
        source: serde_saphyr::ser_error::Error,
    },
    /// A YAML file that a user may have written cannot be read.
    #[error("cannot read {what}: {reason}")]
    ReadYaml {
        /// Which file.
        what: String,
        /// What is wrong with it and where.
        reason: String,
    },
    /// A manifest lacks what every Kubernetes object has.
    #[error("{path} holds something that is not a Kubernetes object: it needs apiVersion, kind and metadata.name")]
    NotAnObject {
        /// Which file.
        path: String,
    },
    /// Two files are about the same object.
    #[error("{object} is in {first} and in {second}; remove it from one of them")]
    DuplicateObject {
        /// The object: kind, group, namespace and name.
        object: String,
        /// One file.
        first: String,
        /// The other file.
        second: String,
    },
    /// A download whose digest is not known would be taken on trust.
    #[error(
        "no digest is known of {file}; use a version of Kubernetes that is built in ({known}), or give its digest under binaryDigests as '{file_name}'"
    )]
    UnknownDigest {
        /// Path below the download site.
        file: String,
        /// The key under `binaryDigests`.
        file_name: String,
        /// Versions of Kubernetes that need none.
        known: String,
    },
    /// The node agent has no digest for the cluster's architecture.
    #[error("nodeAgent.sha512 has no digest for {architecture}; add one")]
    NodeAgentDigest {
        /// The architecture.
        architecture: String,
    },
    /// containerd cannot express a mirror.
    #[error(
        "imageMirrors: {mirror} cannot stand in for {source_name}, because containerd redirects whole registries and keeps the path below them; mirror the whole registry, or let the mirror's path end like the source's"
    )]
    ImageMirror {
        /// What is mirrored.
        source_name: String,
        /// Where to.
        mirror: String,
    },
    /// Two parts of the renderer want the same path on a machine.
    #[error("two parts render {path} for role {role}")]
    PathTaken {
        /// The path.
        path: String,
        /// The role.
        role: MachineRole,
    },
}
