//! Summary of a cluster's machine objects, once it has a control plane to ask.

use std::{fmt, time::Duration};

use landfall_cluster::MachineCounts;
use landfall_workdir::WorkDir;
use serde::Serialize;

use crate::{cluster::api, stages::Source};

/// Longest time to wait for the API: `status` also answers while the cluster is unreachable.
const PATIENCE: Duration = Duration::from_secs(5);

/// Counts of the machines, or the reason why they are unknown.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Machines {
    Counted(MachineCounts),
    Silent { unreachable: String },
}

impl Machines {
    /// Asks the API of the cluster. Returns nothing if it has no machine objects.
    pub(super) fn ask(dir: &WorkDir, source: &Source) -> anyhow::Result<Option<Self>> {
        let asked = async {
            let api = api(dir, &source.config)?;
            Ok::<_, anyhow::Error>(tokio::time::timeout(PATIENCE, api.machine_counts()).await??)
        };
        Ok(match tokio::runtime::Runtime::new()?.block_on(asked) {
            Ok(counts) => counts.map(Self::Counted),
            Err(error) => Some(Self::Silent { unreachable: format!("{error:#}") }),
        })
    }
}

impl fmt::Display for Machines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counted(counts) => writeln!(f, "machines          {counts}"),
            Self::Silent { unreachable } => writeln!(f, "machines          cannot be asked for: {unreachable}"),
        }
    }
}
