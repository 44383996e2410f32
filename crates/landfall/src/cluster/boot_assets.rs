//! The config of the bootstrap machine on an asset host, which is served or stored no longer once the machine has it.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_config::InstallConfig;
use landfall_platform::{
    Context, ErrorClass, Outputs, Step, StepError, StepId, StepSpec, USER_DATA_TITLE, user_data_step,
};

use super::Boot;

/// The kind of the step.
pub(super) const KIND: &str = "boot-assets";

/// The step, for platforms whose user data is a pointer to the asset host.
pub(super) fn spec(config: &InstallConfig, needs: Vec<StepId>) -> StepSpec {
    StepSpec {
        id: user_data_step(),
        title: USER_DATA_TITLE.to_owned(),
        kind: KIND.into(),
        needs,
        timeout: config.timeouts.machine.duration(),
        desired: serde_json::Value::Null,
    }
}

pub(super) struct BootAssetsStep {
    /// Not needed where the step is only removed.
    pub(super) boot: Option<Arc<Boot>>,
}

#[async_trait]
impl Step for BootAssetsStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let boot = self.boot.as_ref().ok_or_else(|| StepError::new(ErrorClass::Bug, "there is no asset host"))?;
        // What the user has to do about a host of their own is said when the bootstrap machine is gone.
        let _duty = boot.forget_secrets().await.map_err(|error| StepError::new(ErrorClass::Transient, error))?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}
