//! What the program itself finds wrong; the rest comes from the libraries.

use std::{io, path::PathBuf};

use landfall_config::ConfigError;
use landfall_platform::InfraId;

use crate::exit::ExitStatus;

/// What the program itself finds wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Usage(String),
    #[error("cannot read {}, which {named_by} names", path.display())]
    ReadInput { path: PathBuf, named_by: &'static str, source: io::Error },
    #[error("{}, which {named_by} names, is not UTF-8 text", path.display())]
    InputNotText { path: PathBuf, named_by: &'static str },
    #[error("cannot write {}", path.display())]
    WriteOutput { path: PathBuf, source: io::Error },
    #[error("there is no {}", path.display())]
    NoInstallConfig { path: PathBuf },
    #[error("{} exists already", path.display())]
    InstallConfigExists { path: PathBuf },
    #[error("what was given does not make an install-config")]
    Incomplete(#[source] ConfigError),
    #[error("{} was begun with another distribution", path.display())]
    OtherDistribution { path: PathBuf },
    #[error("manifests of two renderings of openshift-install cannot be mixed: their authorities differ")]
    MixedRenderings,
    #[error("{} belongs to a cluster, but .landfall/cluster.json, which names it, is gone", path.display())]
    IdentityGone { path: PathBuf },
    #[error("{} holds no cluster", path.display())]
    NoCluster { path: PathBuf },
    #[error("the cluster {infra_id} of {} was destroyed", path.display())]
    Destroyed { path: PathBuf, infra_id: InfraId },
    #[error("{} has no section 'dns'", path.display())]
    NoDns { path: PathBuf },
    #[error("{} holds no cluster yet", path.display())]
    NoIdentity { path: PathBuf },
    #[error("{} has no kit yet", path.display())]
    NoKit { path: PathBuf },
    #[error("the cluster does not manage its machines")]
    MachinesOfUser,
    #[error("{problems} {} wrong", if *problems == 1 { "thing is" } else { "things are" })]
    Unfit { problems: usize },
    #[error("cannot read the journal")]
    Journal(#[source] landfall_engine::JournalError),
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Usage(_) => ExitStatus::Usage,
            Self::WriteOutput { .. } | Self::Signals(_) => ExitStatus::Failure,
            Self::Interrupted => ExitStatus::Interrupted,
            Self::Unfit { .. } => ExitStatus::Infrastructure,
            Self::ReadInput { .. }
            | Self::InputNotText { .. }
            | Self::NoInstallConfig { .. }
            | Self::InstallConfigExists { .. }
            | Self::Incomplete(_)
            | Self::OtherDistribution { .. }
            | Self::MixedRenderings
            | Self::NoCluster { .. }
            | Self::NoDns { .. }
            | Self::NoIdentity { .. }
            | Self::NoKit { .. }
            | Self::MachinesOfUser
            | Self::Destroyed { .. }
            | Self::Journal(_)
            | Self::IdentityGone { .. } => ExitStatus::Config,
        }
    }

    pub(crate) fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoInstallConfig { .. } => {
                "make one with 'landfall create install-config', or name another directory with --dir"
            }
            Self::NoDns { .. } => "'landfall explain dns' says what can stand there",
            Self::NoIdentity { .. } => {
                "run 'landfall create manifests' first: records carry the infra id, which is minted there"
            }
            Self::MachinesOfUser => {
                "they are yours: install-config.yaml says 'machines: userManaged', or the directory has a kit for you to make them"
            }
            Self::NoKit { .. } => "run 'landfall upi create' first",
            Self::Unfit { .. } => "the lines after 'fix:' put them right; run it again afterwards",
            Self::InstallConfigExists { .. } => {
                "edit it, or replace it with --overwrite; a copy of it then goes to .landfall/backup"
            }
            Self::Incomplete(_) => {
                "give what is missing with flags, --set path=value or --from FILE, or run in a terminal to be asked; \
                 'landfall explain PATH' says what a field means"
            }
            Self::OtherDistribution { .. } => {
                "put the distribution back, or copy install-config.yaml to an empty directory and go on there"
            }
            Self::NoCluster { .. } => {
                "name the install directory with --dir; if it is lost, 'landfall destroy cluster --infra-id ID' needs none"
            }
            Self::Destroyed { .. } => {
                "for a new cluster, copy install-config.yaml to an empty directory: it gets an infra id and keys of its own"
            }
            Self::MixedRenderings => "use --regenerate or --keep-stale for all of them",
            Self::IdentityGone { .. } => {
                "put back a copy of it: without the infra id the objects of the cluster are not found again"
            }
            _ => return None,
        })
    }
}
