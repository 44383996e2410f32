//! The manifests: Landfall's and the user's own.

use std::{sync::Arc, time::Duration};

use landfall_platform::Context;

use crate::{
    Error, approval,
    bootstrap::access::{self, kept_admin_config},
    machine::Machine,
    program::Program,
};

/// Applies the manifests.
pub(in crate::bootstrap) struct Manifests(pub(in crate::bootstrap) Arc<Machine>);

super::step!(Manifests);

impl Manifests {
    /// Applies them all at once. What needs a definition that another one brings is refused the first time, and the engine
    /// calls again.
    async fn act(&self, _: &Context) -> Result<(), Error> {
        let facts = &self.0.facts;
        let bootstrap = facts.bootstrap.as_ref().ok_or(Error::NoSuchFact("bootstrap"))?;
        let kubeconfig = format!("--kubeconfig={}", kept_admin_config(&self.0).display());
        let server = format!("--server=https://127.0.0.1:{}", facts.api.port);
        let apply = ["apply", "--server-side", "--force-conflicts", "--field-manager=landfall", "--recursive", "-f"];
        let arguments = [kubeconfig.as_str(), &server].into_iter().chain(apply).chain([bootstrap.manifests.as_str()]);
        Program::new("kubectl", arguments).limit(Duration::from_mins(5)).run().await?;
        approval::withdraw(&access::local(&self.0)).await
    }
}
