//! Where the stages of a directory stand, without rendering anything.

use landfall_platform::FileSet;
use landfall_workdir::{Record, Result, Stage, Standing, WorkDir};

use super::{IGNITION_CONFIGS, MANIFESTS, Source, desk::digest};

/// Where each stage stands; nothing for one that has not been made yet.
///
/// Of the inputs only those are compared that lie in the directory or in this program; without an install-config that can
/// be used, none.
pub(crate) fn standings(
    dir: &WorkDir,
    record: &Record,
    source: Option<&Source>,
) -> Result<[(Stage, Option<Standing>); 2]> {
    let sight = |stage: Stage| dir.sight(stage, record.stage(stage.name), &FileSet::default());
    let manifests = sight(MANIFESTS)?;
    let standing = |stage: Stage, on_disk: &FileSet, from_manifests: bool| {
        let record = record.stage(stage.name)?;
        let inputs = source.map(|source| {
            let inputs = source.inputs_over(record.inputs.clone());
            if from_manifests { inputs.with(MANIFESTS.name, digest(&manifests)) } else { inputs }
        });
        Some(Standing::new(record, on_disk, inputs.as_ref()))
    };
    Ok([
        (MANIFESTS, standing(MANIFESTS, &manifests, false)),
        (IGNITION_CONFIGS, standing(IGNITION_CONFIGS, &sight(IGNITION_CONFIGS)?, true)),
    ])
}
