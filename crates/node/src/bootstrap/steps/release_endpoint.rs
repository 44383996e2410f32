//! Giving up the address that the platform leads to this machine.

use std::{sync::Arc, time::Duration};

use landfall_platform::{Context, error_chain};
use tokio::time::sleep;

use crate::{Error, bootstrap::access, machine::Machine, program::Program};

/// The unit that takes what is led here.
const UNIT: &str = "landfall-endpoint.service";

/// Takes the address off this machine for good, also after a reboot, so that its own connections leave it too, and waits until a master answers under it. The
/// installer has the platform lead it there, once the masters are well.
pub(in crate::bootstrap) struct ReleaseEndpoint(pub(in crate::bootstrap) Arc<Machine>);

super::step!(ReleaseEndpoint);

impl ReleaseEndpoint {
    async fn act(&self, context: &Context) -> Result<(), Error> {
        Program::new("systemctl", ["disable", "--now", UNIT]).run().await?;
        let endpoint = access::endpoint(&self.0);
        // waits: the engine ends the step at its limit
        loop {
            match endpoint.is_ready().await {
                Ok(true) => return Ok(()),
                Ok(false) => context.report("a master has the address, and its API is not ready"),
                Err(error) => context.report(error_chain(&error)),
            }
            sleep(Duration::from_secs(1)).await;
        }
    }
}
