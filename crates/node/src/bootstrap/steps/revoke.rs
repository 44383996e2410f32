//! The masters' machine token, worthless from here on: all masters have joined. What a master would need that takes the place of another is
//! left in the cluster, where the masters serve it when one is awaited.

use std::{path::Path, sync::Arc};

use landfall_assets::MachineRole;
use landfall_platform::Context;

use crate::{Error, bootstrap::access, config_server::successors, machine::Machine, stored};

/// Revokes the token, by removing its digest from where the config server looks.
pub(in crate::bootstrap) struct RevokeMasterToken(pub(in crate::bootstrap) Arc<Machine>);

super::step!(RevokeMasterToken);

impl RevokeMasterToken {
    async fn act(&self, _: &Context) -> Result<(), Error> {
        let roles = self.0.facts.config_server.iter().flat_map(|server| &server.roles);
        for role in roles.filter(|role| role.role == MachineRole::Master) {
            let digest = Path::new(&role.token_digest);
            // It is gone where the step was cut off at its end.
            if digest.exists() {
                let read = |path: &Path| std::fs::read(path).map_err(Error::file("read", path));
                let (config, text) = (read(Path::new(&role.config))?, read(digest)?);
                let local = access::local(&self.0);
                successors::leave(&local, &config, String::from_utf8_lossy(&text).trim()).await?;
            }
            stored::remove(digest)?;
        }
        Ok(())
    }
}
