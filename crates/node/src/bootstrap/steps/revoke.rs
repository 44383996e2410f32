//! The root of the masters' credentials, which are worthless from here on: all masters have joined. What a master would need that takes the place of another is
//! left in the cluster, where the masters serve it when one is awaited.

use std::{path::Path, sync::Arc};

use landfall_assets::MachineRole;
use landfall_platform::Context;

use crate::{Error, bootstrap::access, config_server::successors, machine::Machine, stored};

/// Revokes the credentials, by removing their root from where the config server looks.
pub(in crate::bootstrap) struct RevokeMasterToken(pub(in crate::bootstrap) Arc<Machine>);

super::step!(RevokeMasterToken);

impl RevokeMasterToken {
    async fn act(&self, _: &Context) -> Result<(), Error> {
        let roles = self.0.facts.config_server.iter().flat_map(|server| &server.roles);
        for role in roles.filter(|role| role.role == MachineRole::Master) {
            let root = Path::new(&role.root);
            // It is gone where the step was cut off at its end.
            if root.exists() {
                let read = |path: &Path| std::fs::read(path).map_err(Error::file("read", path));
                let (config, text) = (read(Path::new(&role.config))?, read(root)?);
                let local = access::local(&self.0);
                successors::leave(&local, &config, String::from_utf8_lossy(&text).trim()).await?;
            }
            stored::remove(root)?;
        }
        Ok(())
    }
}
