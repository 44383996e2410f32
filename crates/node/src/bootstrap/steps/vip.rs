//! The virtual address of the API, which `landfall-node vip` holds here: kubeadm's own clients use it.

use std::{sync::Arc, time::Duration};

use landfall_platform::Context;
use tokio::time::sleep;

use crate::{
    Error,
    machine::{Machine, interfaces},
};

/// Waits until the address is here.
pub(in crate::bootstrap) struct Vip(pub(in crate::bootstrap) Arc<Machine>);

super::step!(Vip);

impl Vip {
    async fn act(&self, context: &Context) -> Result<(), Error> {
        let wanted = &self.0.vips()?.api;
        // waits: the engine ends the step at its limit
        loop {
            let held: Vec<_> =
                interfaces().await?.into_iter().flat_map(|it| it.addresses).filter_map(|it| it.address).collect();
            match wanted.iter().find(|vip| !held.contains(vip)) {
                None => return Ok(()),
                Some(missing) => context.report(format!("waiting for keepalived to take {missing}")),
            }
            sleep(Duration::from_millis(200)).await;
        }
    }
}
