//! Giving the API's virtual address to the masters.

use std::{sync::Arc, time::Duration};

use landfall_platform::{Context, error_chain};
use tokio::time::sleep;

use crate::{
    Error,
    bootstrap::access,
    machine::{Machine, interfaces},
    vip,
};

/// Has `landfall-node vip` let go of the address, and waits until a master answers under it.
pub(in crate::bootstrap) struct ReleaseVip(pub(in crate::bootstrap) Arc<Machine>);

super::step!(ReleaseVip);

impl ReleaseVip {
    async fn act(&self, context: &Context) -> Result<(), Error> {
        vip::release(&self.0)?;
        let vips = &self.0.vips()?.api;
        // waits: the engine ends the step at its limit
        loop {
            let held: Vec<_> =
                interfaces().await?.into_iter().flat_map(|it| it.addresses).filter_map(|it| it.address).collect();
            if let Some(vip) = vips.iter().find(|vip| held.contains(vip)) {
                context.report(format!("waiting for keepalived to let go of {vip}"));
            } else {
                let endpoint = access::endpoint(&self.0);
                match endpoint.is_ready().await {
                    Ok(true) => return Ok(()),
                    Ok(false) => context.report("a master has the address, and its API is not ready"),
                    Err(error) => context.report(error_chain(&error)),
                }
            }
            sleep(Duration::from_millis(200)).await;
        }
    }
}
