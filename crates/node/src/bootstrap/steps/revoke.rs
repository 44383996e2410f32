//! The masters' machine token, worthless from here on: all masters have joined.

use std::{path::Path, sync::Arc};

use landfall_assets::MachineRole;
use landfall_platform::Context;

use crate::{Error, machine::Machine, stored};

/// Revokes the token, by removing its digest from where the config server looks.
pub(in crate::bootstrap) struct RevokeMasterToken(pub(in crate::bootstrap) Arc<Machine>);

super::step!(RevokeMasterToken);

impl RevokeMasterToken {
    // The engine awaits steps, and this one has nothing to wait for.
    #[allow(clippy::unused_async)]
    async fn act(&self, _: &Context) -> Result<(), Error> {
        let roles = self.0.facts.config_server.iter().flat_map(|server| &server.roles);
        for role in roles.filter(|role| role.role == MachineRole::Master) {
            stored::remove(Path::new(&role.token_digest))?;
        }
        Ok(())
    }
}
