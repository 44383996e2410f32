//! How work on a cluster can end other than well.

use landfall_engine::{ApplyError, RemovalError};
use landfall_platform::{Finding, StepError, Verdict};

use super::waiting::Wait;
use crate::exit::ExitStatus;

/// How work on a cluster ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    #[error("the platform is not ready for the cluster: {} found", counted(problems))]
    Preflight { problems: Vec<Finding> },
    #[error("the infrastructure is not complete")]
    Apply(#[source] ApplyError),
    #[error("the bootstrap machine is not removed")]
    Retirement(#[source] RemovalError),
    #[error("not everything is removed")]
    Removal(#[from] RemovalError),
    #[error("the control plane did not come up")]
    Bootstrap(#[source] StepError),
    #[error("the cluster did not become ready")]
    Initialisation(#[source] StepError),
}

fn counted(problems: &[Finding]) -> String {
    match problems.len() {
        1 => "1 problem was".to_owned(),
        count => format!("{count} problems were"),
    }
}

impl From<ApplyError> for ClusterError {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Step { step, source, .. } if [Wait::Api.step(), Wait::Bootstrap.step()].contains(&step) => {
                Self::Bootstrap(source)
            }
            ApplyError::Step { step, source, .. } if step == Wait::Nodes(0).step() => Self::Initialisation(source),
            error => Self::Apply(error),
        }
    }
}

impl ClusterError {
    /// What the platform lacks, if it lacks something.
    pub(crate) fn preflight(findings: &[Finding]) -> Option<Self> {
        let problems: Vec<_> = findings.iter().filter(|finding| finding.verdict == Verdict::Problem).cloned().collect();
        (!problems.is_empty()).then_some(Self::Preflight { problems })
    }

    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Apply(ApplyError::Cancelled { .. })
            | Self::Retirement(RemovalError::Cancelled { .. })
            | Self::Removal(RemovalError::Cancelled { .. }) => ExitStatus::Interrupted,
            // A platform that lacks something, and an install-config that asks for what does not exist.
            Self::Preflight { problems } if problems.iter().all(|problem| problem.field.is_some()) => {
                ExitStatus::Config
            }
            Self::Preflight { .. } | Self::Apply(_) | Self::Retirement(_) | Self::Removal(_) => {
                ExitStatus::Infrastructure
            }
            Self::Bootstrap(_) => ExitStatus::Bootstrap,
            Self::Initialisation(_) => ExitStatus::Initialisation,
        }
    }

    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Preflight { .. } => {
                "nothing was created; --skip-preflight goes on all the same, for those who know better"
            }
            Self::Apply(_) | Self::Retirement(_) => {
                "run 'landfall create cluster' again to go on, or 'landfall destroy cluster' to remove what was created"
            }
            Self::Removal(_) => "run 'landfall destroy cluster' again; --dry-run lists what remains",
            Self::Bootstrap(_) => {
                "look at the consoles of the bootstrap machine and the masters; 'landfall create cluster' goes on waiting"
            }
            Self::Initialisation(_) => {
                "'landfall create cluster' goes on waiting, so does 'landfall wait-for install-complete'"
            }
        }
    }
}
