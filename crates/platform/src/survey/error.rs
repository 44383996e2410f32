//! Why a survey ended without a result.

use std::{error::Error, io};

/// Why a survey ended without a result. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// The user pressed Ctrl-C or chose to stop.
    #[error("the survey was abandoned, nothing was written")]
    Abandoned,
    /// The terminal failed.
    #[error("asking on the terminal failed")]
    Terminal(#[source] io::Error),
    /// What was given beforehand (flags, `--set`, `--from`) leaves nothing that the user could answer differently.
    #[error("the values given beforehand cannot be used: {0}")]
    Given(String),
    /// The platform said something that no answer can mend.
    #[error("the survey of platform {platform} failed")]
    Platform {
        /// The platform, as the install-config spells it.
        platform: &'static str,
        /// What it said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The credentials could not be stored.
    #[error("storing the credentials for platform {platform} failed")]
    Credentials {
        /// The platform, as the install-config spells it.
        platform: &'static str,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
}
