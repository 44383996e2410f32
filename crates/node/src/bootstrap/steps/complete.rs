//! Word that the cluster needs this machine no more.

use std::sync::Arc;

use landfall_platform::Context;

use crate::{
    Error,
    bootstrap::{access, progress},
    machine::Machine,
};

/// Removes this machine's node and says so in the cluster, where the installer waits for it.
pub(in crate::bootstrap) struct Complete(pub(in crate::bootstrap) Arc<Machine>);

super::step!(Complete);

impl Complete {
    async fn act(&self, _: &Context) -> Result<(), Error> {
        let endpoint = access::endpoint(&self.0);
        let node = format!("api/v1/nodes/{}", self.0.name);
        endpoint.delete("removing the bootstrap node", &node).await?;
        let object = progress::completed();
        endpoint.apply("saying that the bootstrap is complete", progress::CONFIG_MAP, &object).await
    }
}
