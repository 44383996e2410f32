//! An instance as Nova describes it, as a blueprint.

use base64::Engine as _;
use landfall_platform_powervm::compute::{
    Blueprint, ConfigDrive, Disk, FibrePort, Nic, OperatingSystem, PartitionSpec, Shape, Volume,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use uuid::Uuid;

use crate::failure::Failure;

/// What the mark of an instance's partition begins with.
const MARK: &str = "openstack ";

/// The instance that a mark names.
pub(crate) fn instance(mark: &str) -> Option<Uuid> {
    mark.strip_prefix(MARK)?.parse().ok()
}

/// An instance.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    pub(crate) uuid: Uuid,
    name: String,
    shape: Shape,
    system: OperatingSystem,
    disks: Vec<Disk>,
    nics: Vec<Nic>,
    volumes: Vec<Volume>,
    fibre_ports: Vec<FibrePort>,
    /// The ISO image, in base64.
    config_drive: Option<SecretString>,
    power_on: bool,
}

impl Machine {
    /// What is to be made.
    pub(crate) fn blueprint(self) -> Result<Blueprint, Failure> {
        let decode = |text: SecretString| {
            let image = base64::prelude::BASE64_STANDARD.decode(text.expose_secret());
            image.map_err(|_| Failure::invalid("the config drive is not in base64"))
        };
        let drive = self.config_drive.map(decode).transpose()?;
        Ok(Blueprint {
            partition: PartitionSpec {
                id: self.uuid.into(),
                name: self.name,
                mark: Some(format!("{MARK}{}", self.uuid)),
                shape: self.shape,
                system: self.system,
            },
            disks: self.disks,
            nics: self.nics,
            volumes: self.volumes,
            fibre_ports: self.fibre_ports,
            config_drive: drive.map(|image| ConfigDrive::Medium(image.into())),
            power_on: self.power_on,
        })
    }
}
