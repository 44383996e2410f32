//! Where a stage is compared with the install directory.

use landfall_platform::{File, FileSet};
use landfall_workdir::{
    Choice, Choices, Digest, Evaluation, Inputs, Plan, Record, Rendering, Stage, Unsettled, WorkDir,
};

/// Where a stage is compared with the install directory.
pub(super) struct Desk<'a> {
    pub(super) dir: &'a WorkDir,
    pub(super) record: Record,
    pub(super) choices: &'a Choices,
    /// Whether files are there that were made for a cluster which is gone.
    pub(super) begins_anew: bool,
}

impl Desk<'_> {
    /// The plan for a stage that was rendered. An error if the user has to choose first.
    pub(super) fn settle(&self, stage: Stage, rendering: &Rendering, inputs: Inputs) -> anyhow::Result<Plan> {
        match self.evaluate(stage, rendering, inputs.clone())?.settle(self.choices) {
            Err(open) if self.begins_anew => self.settle_again(&open, stage, rendering, inputs),
            settled => Ok(settled?),
        }
    }

    /// The same where files that the user did not edit are written anew without a question.
    pub(super) fn settle_own(&self, stage: Stage, rendering: &Rendering, inputs: Inputs) -> anyhow::Result<Plan> {
        match self.evaluate(stage, rendering, inputs.clone())?.settle(self.choices) {
            Err(open) => self.settle_again(&open, stage, rendering, inputs),
            Ok(plan) => Ok(plan),
        }
    }

    /// Returns true if a run was killed while it wrote a stage, and no other inputs than these have changed since.
    pub(super) fn was_cut_short(&self, stage: Stage, inputs: &Inputs, except: &[&str]) -> bool {
        let record = self.record.stage(stage.name).filter(|record| !record.complete);
        let same = |earlier: &Inputs| inputs.changed_since(earlier).iter().all(|name| except.contains(&name.as_str()));
        record.is_some_and(|record| same(&record.inputs))
    }

    fn settle_again(
        &self,
        open: &Unsettled,
        stage: Stage,
        rendering: &Rendering,
        inputs: Inputs,
    ) -> anyhow::Result<Plan> {
        let untouched = open.files.iter().filter(|file| !file.edited);
        let choices = untouched.fold(self.choices.clone(), |all, file| all.with(file.path.clone(), Choice::Regenerate));
        Ok(self.evaluate(stage, rendering, inputs)?.settle(&choices)?)
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
