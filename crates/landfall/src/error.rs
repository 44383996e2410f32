//! What the program itself finds wrong; the rest comes from the libraries.

use std::{io, path::PathBuf};

use jiff::Timestamp;
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
    #[error("cannot use another install-config for {infra_id}, which exists already: {}", differences.join("; "))]
    ConfigFrozen { infra_id: InfraId, differences: Vec<String> },
    #[error("cannot write files of {stage} anew: they were handed out to machines as they are")]
    ChoiceFrozen { stage: &'static str },
    #[error(
        "cannot tell what the machines of {infra_id} were given: .landfall/frozen.json is gone or belongs to another cluster"
    )]
    FrozenGone { infra_id: InfraId },
    #[error(
        "the certificate {name} in {file} ends at {not_after:.0}, but the timeouts of what is ahead end at {end:.0} only"
    )]
    CertificateEnds { name: String, file: String, not_after: Timestamp, end: Timestamp, is_begun: bool },
    #[error("cannot listen on {address} again, where machines were told to fetch what they boot with")]
    AssetAddressTaken { address: String, source: io::Error },
    #[error("cannot serve {now} to machines that were told to fetch from {told}")]
    AssetHostMoved { told: String, now: String },
    #[error(
        "cannot serve bootstrap.ign: an earlier version made the asset host, with one path for it and the iPXE script"
    )]
    AssetHostOutdated,
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
            Self::WriteOutput { .. } | Self::Signals(_) | Self::AssetAddressTaken { .. } => ExitStatus::Failure,
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
            | Self::ConfigFrozen { .. }
            | Self::ChoiceFrozen { .. }
            | Self::FrozenGone { .. }
            | Self::CertificateEnds { .. }
            | Self::AssetHostMoved { .. }
            | Self::AssetHostOutdated
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
            Self::ConfigFrozen { .. } => {
                "put the fields back and run it again: what was handed out to machines does not change. 'landfall create cluster' \
                 does no upgrades; for a cluster of another kind run 'landfall destroy cluster' first"
            }
            Self::ChoiceFrozen { .. } => {
                "run it again without --regenerate and --keep-stale; for other files run 'landfall destroy cluster' first"
            }
            Self::FrozenGone { .. } => {
                "put back a copy of it, or run 'landfall destroy cluster', which works without it"
            }
            Self::CertificateEnds { is_begun: true, .. } => {
                "machines pin it, so it is not renewed: if they will be up in time, shorten 'timeouts' in install-config.yaml and \
                 run it again; otherwise run 'landfall destroy cluster' and 'landfall create cluster'"
            }
            Self::CertificateEnds { is_begun: false, .. } => {
                "nothing was created: shorten 'timeouts' or raise 'pki.certificateValidityDays' in install-config.yaml; if you \
                 edited or kept the file, --regenerate=FILE writes it anew"
            }
            Self::AssetAddressTaken { .. } => {
                "if another process uses it ('ss -ltnp' shows which), end that; if it is the address of another host, go on there. \
                 Without it, run 'landfall destroy cluster'"
            }
            Self::AssetHostMoved { .. } => {
                "machines know the first address only: serve there again, with the same --asset-listen and on the same host, or \
                 run 'landfall destroy cluster'"
            }
            Self::AssetHostOutdated => {
                "the script's path travels in plain, so it must not open anything: run 'landfall destroy cluster' and 'landfall create \
                 cluster'"
            }
            Self::MixedRenderings => "use --regenerate or --keep-stale for all of them",
            Self::IdentityGone { .. } => {
                "put back a copy of it: without the infra id the objects of the cluster are not found again"
            }
            _ => return None,
        })
    }
}
