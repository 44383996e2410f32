//! One file for each step. None of them is ever unwound: the machine is removed as a whole.

pub(super) mod complete;
pub(super) mod control_plane;
pub(super) mod etcd_member;
pub(super) mod manifests;
pub(super) mod masters;
pub(super) mod preflight;
pub(super) mod release_endpoint;
pub(super) mod release_vip;
pub(super) mod reset;
pub(super) mod revoke;
pub(super) mod vip;

/// A step that holds the machine, with nothing to remove.
macro_rules! step {
    ($type:ident) => {
        #[async_trait::async_trait]
        impl landfall_platform::Step for $type {
            async fn ensure(
                &self,
                context: &landfall_platform::Context,
            ) -> Result<landfall_platform::Outputs, landfall_platform::StepError> {
                self.act(context).await?;
                Ok(landfall_platform::Outputs::default())
            }

            async fn remove(
                &self,
                _: &landfall_platform::Context,
                _: Option<&landfall_platform::Outputs>,
            ) -> Result<(), landfall_platform::StepError> {
                Ok(())
            }
        }
    };
}
use step;
