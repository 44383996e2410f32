//! Where a stage is compared with the install directory.

use landfall_platform::{File, FileSet};
use landfall_workdir::{Choices, Digest, Evaluation, Inputs, Plan, Record, Rendering, Stage, WorkDir};

/// Where a stage is compared with the install directory.
pub(super) struct Desk<'a> {
    pub(super) dir: &'a WorkDir,
    pub(super) record: Record,
    pub(super) choices: &'a Choices,
}

impl Desk<'_> {
    /// The plan for a stage that was rendered. An error if the user has to choose first.
    pub(super) fn settle(&self, stage: Stage, rendering: &Rendering, inputs: Inputs) -> anyhow::Result<Plan> {
        Ok(self.evaluate(stage, rendering, inputs)?.settle(self.choices)?)
    }

    /// The user's version of a file of a stage that was rendered, if that is what will be used.
    pub(super) fn edit(&self, stage: Stage, rendering: &Rendering, path: &str) -> anyhow::Result<Option<File>> {
        let evaluation = self.evaluate(stage, rendering, Inputs::default())?;
        let file = evaluation.contents(path, self.choices);
        Ok(file.filter(|file| Some(*file) != rendering.files().get(path)).cloned())
    }

    fn evaluate(&self, stage: Stage, rendering: &Rendering, inputs: Inputs) -> anyhow::Result<Evaluation> {
        let record = self.record.stage(stage.name);
        let on_disk = self.dir.sight(stage, record, rendering.files())?;
        Ok(Evaluation::new(stage, record, &on_disk, rendering, inputs))
    }

    /// The plan for a stage that need not be rendered again, if that is so.
    pub(super) fn keep(&self, stage: Stage, inputs: &Inputs) -> anyhow::Result<Option<Plan>> {
        let record = self.record.stage(stage.name);
        let on_disk = self.dir.sight(stage, record, &FileSet::default())?;
        Ok(Plan::keep(stage, record, &on_disk, inputs, self.choices))
    }
}

/// One digest of many files.
pub(super) fn digest(files: &FileSet) -> Digest {
    Digest::of_parts(files.iter().map(|(path, file)| (path, file.contents.as_slice())))
}
