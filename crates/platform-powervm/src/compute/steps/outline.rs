//! What a journal says first about an operation. Noting it is all there is to it.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};

pub(super) struct OutlineStep;

#[async_trait]
impl Step for OutlineStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}
