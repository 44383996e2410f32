//! What can go wrong with a release's own installer.

use std::{io, path::PathBuf};

use landfall_config::InstallConfig;
use landfall_platform::{InfraId, InfraIdError};
use url::Url;

use super::Target;

/// Why a release's own installer could not be used, or its output not be taken over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no program on `PATH`, and none was named.
    #[error(
        "there is no openshift-install on PATH; take the one of the release to install (from its download page, or \
         with `oc adm release extract --command=openshift-install IMAGE`) and name it by the flag --openshift-install \
         or by openshiftInstall.path in install-config.yaml"
    )]
    NotFound,
    /// The program that was named is not there or cannot be run.
    #[error("{path}, which {named_by} names as the openshift-install program, {reason}")]
    NotExecutable {
        /// The path as it was given.
        path: PathBuf,
        /// Who gave it.
        named_by: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The operating system could not start the program.
    #[error("cannot start {program}; is it the openshift-install for this operating system and processor?")]
    Start {
        /// The program.
        program: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The program answers `version` with something else.
    #[error("{program} does not say which version it is, so it is not openshift-install; it printed: {output}")]
    NotInstaller {
        /// The program.
        program: PathBuf,
        /// What it printed.
        output: String,
    },
    /// The program ended with an error.
    #[error("`{program} create {target}` failed ({status}); it said:\n{log}\n{hint}")]
    Failed {
        /// The program.
        program: PathBuf,
        /// What it was to make.
        target: Target,
        /// How it ended.
        status: String,
        /// The last lines of its log.
        log: String,
        /// What to do.
        hint: &'static str,
    },
    /// The program belongs to another release than the install-config asks for.
    #[error(
        "install-config.yaml asks for version {wanted}, but the openshift-install in use renders {found}; name the \
         program of that release by --openshift-install, or change version"
    )]
    WrongVersion {
        /// What the install-config says.
        wanted: String,
        /// What the program says.
        found: String,
    },
    /// The program is older than what Landfall builds on.
    #[error("openshift-install {found} does not know platform `external`; use release 4.14 or newer")]
    TooOld {
        /// What the program says.
        found: String,
    },
    /// The program does not say which release image it installs.
    #[error(
        "openshift-install {version} does not say which release image it installs; name one by \
         openshiftInstall.releaseImage in install-config.yaml"
    )]
    NoReleaseImage {
        /// Version of the program.
        version: String,
    },
    /// The manifests come from one program, and now another is in use.
    #[error(
        "the manifests were rendered by openshift-install {rendered}, but the one in use now is {found}; use the \
         former, or render the manifests again"
    )]
    VersionChanged {
        /// The version that rendered the manifests.
        rendered: String,
        /// The version in use.
        found: String,
    },
    /// A file of the working copy could not be written or read.
    #[error("cannot {attempt} {path}, for the copy that openshift-install works on")]
    WorkingCopy {
        /// What was attempted.
        attempt: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The program did not write a file that it should have.
    #[error("openshift-install {version} wrote no {path}; its output has changed in a way that Landfall does not know")]
    OutputMissing {
        /// Version of the program.
        version: String,
        /// The file.
        path: String,
    },
    /// A file that the program wrote, or that the user edited, is not what Landfall expects.
    #[error("cannot use {path}: {reason}")]
    Unusable {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The program named the infra id in a form that Landfall cannot use.
    #[error("cannot take over the infra id from {path}")]
    InfraId {
        /// The file it stands in.
        path: String,
        /// What is wrong with it.
        source: InfraIdError,
    },
    /// The program made another infra id than the cluster has.
    #[error(
        "{path} names the infra id {found}, but the cluster has {expected}, which everything made for it carries; put \
         the name back, or start over in an empty directory"
    )]
    InfraIdChanged {
        /// The file it stands in.
        path: String,
        /// What the cluster has.
        expected: InfraId,
        /// What the file says.
        found: String,
    },
    /// A manifest without which the program ignores all others is gone.
    #[error(
        "{path} is missing; openshift-install knows a set of manifests by this file, and without it would put back \
         everything else that you changed or removed; restore it"
    )]
    ManifestMissing {
        /// The file.
        path: String,
    },
    /// The program passed over a manifest.
    #[error(
        "openshift-install did not take over {path}; it reads only files that lie directly in manifests/ and \
         openshift/ and end in .yaml, .yml or .json, one object each"
    )]
    ManifestIgnored {
        /// The file.
        path: String,
    },
    /// The release and Landfall both want a file or unit on the bootstrap machine.
    #[error("openshift-install {version} already puts {name} on the bootstrap machine, as Landfall does")]
    BootstrapClash {
        /// Version of the program.
        version: String,
        /// Path or name of the unit.
        name: String,
    },
    /// Landfall's own part failed.
    #[error(transparent)]
    Assets(#[from] crate::Error),
}

impl Error {
    /// The same without the secrets of the install-config, which the program repeats when it finds fault with them.
    pub(super) fn without_secrets(self, config: &InstallConfig) -> Self {
        match self {
            Self::Failed { program, target, status, log, hint } => {
                let log = secrets(config).iter().fold(log, |log, secret| log.replace(secret.as_str(), "…"));
                Self::Failed { program, target, status, log, hint }
            }
            other => other,
        }
    }
}

/// The secrets of an install-config, as they are and as Go quotes them.
fn secrets(config: &InstallConfig) -> Vec<String> {
    let proxies = config.proxy.iter().flat_map(|proxy| [&proxy.http_proxy, &proxy.https_proxy]).flatten();
    let passwords = proxies.filter_map(|url| Some(url.parse::<Url>().ok()?.password()?.to_owned()));
    let pull_secret = config.pull_secret.iter().map(|secret| secret.expose().trim().to_owned());
    let plain: Vec<String> = passwords.chain(pull_secret).filter(|secret| !secret.is_empty()).collect();
    let quoted = plain.iter().map(|secret| serde_json::Value::from(secret.as_str()).to_string());
    let quoted: Vec<String> = quoted.map(|secret| secret.trim_matches('"').to_owned()).collect();
    [plain, quoted].concat()
}
