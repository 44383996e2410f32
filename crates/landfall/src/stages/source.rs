//! The install-config of a directory, as the stages are derived from it.

use landfall_config::{InstallConfig, MachineManagement, Notice};
use landfall_upi::INVENTORY;
use landfall_workdir::{Digest, INSTALL_CONFIG, Inputs, WorkDir};

use crate::error::Error;

/// An install-config that can be used.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) config: InstallConfig,
    pub(crate) notices: Vec<Notice>,
    /// Of the file as the user wrote it.
    pub(crate) digest: Digest,
}

impl Source {
    /// Reads and judges the install-config of a directory.
    pub(crate) fn read(dir: &WorkDir) -> anyhow::Result<Self> {
        let Some(file) = dir.read(INSTALL_CONFIG)? else {
            return Err(Error::NoInstallConfig { path: dir.path(INSTALL_CONFIG) }.into());
        };
        let parsed = landfall_config::parse(&file.contents)?;
        let digest = Digest::of(&file.contents);
        let source = Self { config: parsed.config, notices: parsed.notices, digest };
        Ok(if dir.path(INVENTORY).exists() { source.with_kit() } else { source })
    }

    /// The same for a directory with a kit: machines that the user makes are the user's, unless the install-config says otherwise.
    pub(crate) fn with_kit(mut self) -> Self {
        self.config.machines.get_or_insert(MachineManagement::UserManaged);
        self
    }

    /// What every stage is derived from: the install-config by its meaning, so that comments, the order of keys and
    /// defaults that are spelled out make no difference, and this version of Landfall.
    pub(crate) fn inputs(&self) -> Inputs {
        self.inputs_over(Inputs::default())
    }

    /// The same, in the place of what other inputs say about it.
    pub(crate) fn inputs_over(&self, others: Inputs) -> Inputs {
        let json = serde_json::to_vec(&self.config).expect("an install-config is plain data with text keys");
        others
            .with(INSTALL_CONFIG, Digest::of(json))
            .with("the version of landfall", Digest::of(env!("CARGO_PKG_VERSION")))
    }
}
