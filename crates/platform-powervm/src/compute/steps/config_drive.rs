//! The medium with the config drive of a partition.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};

use super::mappings;
use crate::compute::{
    ConfigDrive, Error, Host,
    config_drive::{self, MediumSpec},
};

pub(super) struct ConfigDriveStep {
    pub(super) host: Arc<Host>,
    pub(super) spec: MediumSpec,
    pub(super) drive: Option<Arc<ConfigDrive>>,
}

#[async_trait]
impl Step for ConfigDriveStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let missing = || Error::Missing {
            what: format!("description of what goes on config drive {}", self.spec.name()),
            host: self.host.name().to_owned(),
        };
        let drive = self.drive.as_ref().ok_or_else(missing)?;
        let backing = config_drive::ensure(&self.host, &self.spec, config_drive::image(drive)).await?;
        mappings::tell(&[backing])
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(config_drive::remove(&self.host, &self.spec).await?)
    }
}
