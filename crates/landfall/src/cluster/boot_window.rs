//! Whether the certificates that machines are given last until the machines are up.

use std::time::Duration;

use jiff::Timestamp;
use landfall_config::InstallConfig;
use landfall_workdir::WorkDir;

use super::KUBECONFIG;
use crate::{
    error::Error,
    stages::{Certificate, certificates_in},
};

/// What of an installation is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// All of it.
    Everything,
    /// The nodes: the control plane, which has certificates of its own by now, is on the masters.
    Nodes,
    /// Nothing.
    Nothing,
}

impl Ahead {
    /// Returns how long it may take.
    fn window(self, config: &InstallConfig) -> Duration {
        let timeouts = &config.timeouts;
        let phases = match self {
            Self::Everything => {
                vec![timeouts.image, timeouts.machine, timeouts.api, timeouts.bootstrap, timeouts.install]
            }
            Self::Nodes => vec![timeouts.install],
            Self::Nothing => Vec::new(),
        };
        phases.into_iter().map(landfall_config::Span::duration).sum()
    }

    /// Returns true if a certificate is still used.
    fn needs(self, certificate: &Certificate) -> bool {
        match self {
            Self::Everything => true,
            Self::Nodes => certificate.files.contains(KUBECONFIG),
            Self::Nothing => false,
        }
    }
}

/// Returns an error if a certificate ends before the timeouts of what is ahead are over. Machines pin what they are given, so it
/// cannot be renewed once something `is_begun`.
pub(crate) fn check_certificates(
    dir: &WorkDir,
    config: &InstallConfig,
    ahead: Ahead,
    is_begun: bool,
    now: Timestamp,
) -> anyhow::Result<()> {
    let Ok(end) = now.checked_add(ahead.window(config)) else { return Ok(()) };
    let ends = |certificate: &Certificate| ahead.needs(certificate) && certificate.not_after < end;
    match certificates_in(dir)?.into_iter().find(ends) {
        Some(Certificate { name, not_after, files }) => {
            let file = files.into_iter().next().unwrap_or_default();
            Err(Error::CertificateEnds { name, file, not_after, end, is_begun }.into())
        }
        None => Ok(()),
    }
}
