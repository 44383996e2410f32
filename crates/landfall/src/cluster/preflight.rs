//! Looks at the platform before anything is made there.

use anyhow::Context as _;
use landfall_config::InstallConfig;
use landfall_dns::Probe;

use super::{ClusterError, Facts, Progress, Site};

/// What problems mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnProblems {
    /// They end the run.
    Stop,
    /// They are told, because something has been made already, and its steps know best what they need.
    Tell,
    /// They are told, because the user wants to go on all the same.
    GoOn,
}

/// Looks, tells all that was found at once, and returns what the plan depends on.
pub(crate) async fn preflight(
    site: &Site,
    config: &InstallConfig,
    on_problems: OnProblems,
    progress: &Progress,
) -> anyhow::Result<Facts> {
    let look = site.look(config, Probe::Write).await;
    progress.preflight(&look.findings);
    let problems = ClusterError::preflight(&look.findings);
    match (problems, look.facts) {
        (Some(problems), _) if on_problems == OnProblems::Stop => Err(problems.into()),
        (problems, Some(facts)) => {
            if problems.is_some() && on_problems == OnProblems::GoOn {
                progress.warn("going on in spite of these problems, as --skip-preflight asks");
            }
            Ok(facts)
        }
        (_, None) if on_problems == OnProblems::GoOn => {
            progress.warn(
                "going on without having seen the platform, as --skip-preflight asks: what the plan \
                 depends on is guessed",
            );
            Ok(Facts::assumed(config))
        }
        (Some(problems), None) => Err(problems.into()),
        (None, None) => Err(anyhow::anyhow!("the platform did not tell what the plan depends on"))
            .context("cannot plan the cluster"),
    }
}
