//! From an error to what the user is told and how the program ends: the one place where that is decided.

use std::error::Error as StdError;

use landfall_config::{ConfigError, UnknownField, tree::SetError};
use landfall_engine::JournalError;
use landfall_platform::{ErrorClass, survey::SurveyError};
use landfall_workdir::Unsettled;

use crate::{cluster::ClusterError, error::Error, exit::ExitStatus};

/// What the user is told about an error besides its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: ExitStatus,
    pub(crate) hint: Option<&'static str>,
}

const STALE: &str = "--regenerate writes them anew and keeps a copy of what was edited under .landfall/backup; \
    --keep-stale uses them as they are; both take a file as well, as in --regenerate=manifests/a.yaml";
const JOURNAL: &str = "move the journal away; 'landfall destroy cluster' then finds what was created by its mark";
const PACKET_CREDENTIALS: &str = "METAL_AUTH_TOKEN holds the API key, or a file with api_key that only you can read: \
    ~/.packet/packet-config.yaml, or where PACKET_CONFIG points";
const POWERVS_CREDENTIALS: &str = "IBMCLOUD_API_KEY holds the API key, or a file with apikey that only you can read: \
    ~/.powervs/config.json, or where POWERVS_AUTH_FILEPATH points";
const OVIRT_CREDENTIALS: &str = "the credentials file says ovirt_url, ovirt_username and ovirt_password, and ovirt_cafile unless \
    the system trusts the engine; OVIRT_CONFIG names another file";
const CONFIG: &str = "'landfall explain PATH' says what a field means and what it may hold";

impl Failure {
    /// Judges an error by the outermost cause that says something.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        error.chain().find_map(judge).unwrap_or(Self { status: ExitStatus::Failure, hint: None })
    }
}

fn judge(cause: &(dyn StdError + 'static)) -> Option<Failure> {
    let failure = |status, hint| Some(Failure { status, hint });
    if let Some(error) = cause.downcast_ref::<Error>() {
        failure(error.status(), error.hint())
    } else if let Some(error) = cause.downcast_ref::<landfall_workdir::Error>() {
        failure(ExitStatus::Config, error.hint())
    } else if cause.is::<Unsettled>() {
        failure(ExitStatus::Config, Some(STALE))
    } else if let Some(error) = cause.downcast_ref::<ConfigError>() {
        let invalid = matches!(error, ConfigError::Invalid(_));
        failure(ExitStatus::Config, invalid.then_some(CONFIG))
    } else if cause.is::<SetError>() || cause.is::<UnknownField>() {
        failure(ExitStatus::Usage, None)
    } else if let Some(error) = cause.downcast_ref::<landfall_assets::Error>() {
        failure(assets_status(error), None)
    } else if cause.is::<landfall_assets::openshift::Error>() {
        failure(ExitStatus::Config, None)
    } else if let Some(error) = cause.downcast_ref::<landfall_platform_ovirt::Error>() {
        failure(platform_status(error.class()), ovirt_hint(error))
    } else if let Some(error) = cause.downcast_ref::<landfall_platform_packet::Error>() {
        failure(platform_status(error.class()), packet_hint(error))
    } else if let Some(error) = cause.downcast_ref::<landfall_platform_powervs::Error>() {
        failure(platform_status(error.class()), None)
    } else if let Some(error) = cause.downcast_ref::<landfall_wire::ibm_cloud::Error>() {
        failure(platform_status(error.class()), Some(POWERVS_CREDENTIALS))
    } else if let Some(error) = cause.downcast_ref::<landfall_machines::Error>() {
        failure(platform_status(error.class()), None)
    } else if let Some(error) = cause.downcast_ref::<landfall_platform_powervm::Error>() {
        failure(platform_status(error.class()), error.hint())
    } else if let Some(error) = cause.downcast_ref::<landfall_dns::Error>() {
        failure(platform_status(error.class()), None)
    } else if let Some(error) = cause.downcast_ref::<landfall_upi::Error>() {
        failure(ExitStatus::Config, error.hint())
    } else if let Some(error) = cause.downcast_ref::<ClusterError>() {
        failure(error.status(), Some(error.hint()))
    } else if cause.is::<JournalError>() {
        failure(ExitStatus::Config, Some(JOURNAL))
    } else if let Some(error) = cause.downcast_ref::<SurveyError>() {
        failure(survey_status(error), None)
    } else {
        None
    }
}

fn ovirt_hint(error: &landfall_platform_ovirt::Error) -> Option<&'static str> {
    use landfall_platform_ovirt::Error as Ovirt;
    matches!(error, Ovirt::File { .. } | Ovirt::Incomplete { .. } | Ovirt::NoHome).then_some(OVIRT_CREDENTIALS)
}

fn packet_hint(error: &landfall_platform_packet::Error) -> Option<&'static str> {
    use landfall_platform_packet::Error as Packet;
    matches!(error, Packet::NoKey { .. } | Packet::NoHome | Packet::Format { .. }).then_some(PACKET_CREDENTIALS)
}

/// What the user's files are to blame for; the rest is a bug.
fn assets_status(error: &landfall_assets::Error) -> ExitStatus {
    use landfall_assets::Error as Assets;
    match error {
        Assets::MakeKey { .. }
        | Assets::IssueCertificate { .. }
        | Assets::WriteJson { .. }
        | Assets::WriteYaml { .. }
        | Assets::PathTaken { .. } => ExitStatus::Failure,
        _ => ExitStatus::Config,
    }
}

fn platform_status(class: ErrorClass) -> ExitStatus {
    match class {
        ErrorClass::Invalid => ExitStatus::Config,
        ErrorClass::Bug => ExitStatus::Failure,
        ErrorClass::Transient
        | ErrorClass::Throttled
        | ErrorClass::Locked
        | ErrorClass::Auth
        | ErrorClass::NotFound
        | ErrorClass::Timeout
        | ErrorClass::Capacity => ExitStatus::Infrastructure,
    }
}

fn survey_status(error: &SurveyError) -> ExitStatus {
    match error {
        SurveyError::Abandoned => ExitStatus::Interrupted,
        SurveyError::Given(_) | SurveyError::Credentials { .. } => ExitStatus::Config,
        SurveyError::Platform { .. } => ExitStatus::Infrastructure,
        SurveyError::Terminal(_) => ExitStatus::Failure,
    }
}
