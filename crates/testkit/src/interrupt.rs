//! Steps that fail, or take the whole process with them, at a chosen call.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Bind, Context, ErrorClass, Outputs, Step, StepError, StepId, StepSpec};
use tokio_util::sync::CancellationToken;

/// When in the life of a call the trouble comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The intention is recorded, the platform has not been called.
    BeforeCall,
    /// The platform has done it, the outcome is not recorded.
    AfterCall,
}

impl Moment {
    pub(crate) const ALL: [Self; 2] = [Self::BeforeCall, Self::AfterCall];
}

/// What the trouble is.
#[derive(Clone)]
pub(crate) enum Trouble {
    /// The call fails for good.
    Fail,
    /// The process dies: the token tells the suite to drop everything, and the call never returns.
    Die(CancellationToken),
}

/// Binds steps so that one of them runs into trouble.
pub(crate) struct Interrupted {
    pub(crate) inner: Arc<dyn Bind>,
    pub(crate) victim: StepId,
    pub(crate) moment: Moment,
    pub(crate) trouble: Trouble,
}

impl Bind for Interrupted {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        let inner = self.inner.bind(spec)?;
        if spec.id != self.victim {
            return Ok(inner);
        }
        Ok(Arc::new(Victim { inner, moment: self.moment, trouble: self.trouble.clone() }))
    }
}

struct Victim {
    inner: Arc<dyn Step>,
    moment: Moment,
    trouble: Trouble,
}

impl Victim {
    async fn trouble(&self) -> StepError {
        match &self.trouble {
            Trouble::Fail => StepError::new(ErrorClass::Invalid, "the test makes this step fail"),
            Trouble::Die(died) => {
                died.cancel();
                std::future::pending().await
            }
        }
    }
}

#[async_trait]
impl Step for Victim {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        if self.moment == Moment::AfterCall {
            self.inner.ensure(context).await?;
        }
        Err(self.trouble().await)
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        // A step that is made to fail can still be removed: that is what the suite is about.
        if matches!(self.trouble, Trouble::Fail) {
            return self.inner.remove(context, outputs).await;
        }
        if self.moment == Moment::AfterCall {
            self.inner.remove(context, outputs).await?;
        }
        Err(self.trouble().await)
    }
}
