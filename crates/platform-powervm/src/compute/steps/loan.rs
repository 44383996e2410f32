//! A disk that the management partition is shown for a while.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};

use crate::compute::{Host, snapshot::Loan};

pub(super) struct LoanStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: Loan,
}

#[async_trait]
impl Step for LoanStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        self.desired.give(&self.host).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(self.desired.take_back(&self.host).await?)
    }
}
