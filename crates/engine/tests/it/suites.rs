//! The generic suites hold on a sound platform, and notice an unsound one.

use std::{panic::AssertUnwindSafe, sync::Arc};

use async_trait::async_trait;
use futures::FutureExt;
use landfall_engine::Plan;
use landfall_platform::{Bind, Context, Discover, InfraId, Outputs, Step, StepError, StepSpec};
use landfall_testkit::{Fixture, World, fail_at_every_step, kill_at_every_step, kill_every_removal, repeat_every_step};

use crate::toy::Toy;

struct Diamond;

#[async_trait]
impl Fixture for Diamond {
    async fn world(&self) -> Box<dyn World> {
        Box::new(diamond())
    }
}

fn diamond() -> Toy {
    Toy::new(&[("tag", &[]), ("left", &["tag"]), ("right", &["tag"]), ("top", &["left", "right"])])
}

#[tokio::test]
async fn a_sound_platform_passes_all_suites() {
    repeat_every_step(&Diamond).await;
    fail_at_every_step(&Diamond).await;
    kill_at_every_step(&Diamond).await;
    kill_every_removal(&Diamond).await;
}

/// The mistakes that the suites are there to find.
#[derive(Clone, Copy)]
enum Mistake {
    CreatesWithoutLooking,
    ForgetsToRemove,
}

#[derive(Clone)]
struct Careless(Toy, Mistake);

struct CarelessFixture(Mistake);

#[async_trait]
impl Fixture for CarelessFixture {
    async fn world(&self) -> Box<dyn World> {
        Box::new(Careless(diamond(), self.0))
    }
}

#[async_trait]
impl World for Careless {
    fn infra_id(&self) -> InfraId {
        self.0.infra_id()
    }

    fn plan(&self) -> Plan {
        self.0.plan()
    }

    fn binder(&self) -> Arc<dyn Bind> {
        Arc::new(self.clone())
    }

    fn discoverer(&self) -> Arc<dyn Discover> {
        self.0.discoverer()
    }

    async fn inventory(&self) -> Vec<String> {
        self.0.boxes()
    }
}

impl Bind for Careless {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        Ok(Arc::new(CarelessStep { inner: self.0.bind(spec)?, world: self.clone(), name: spec.id.to_string() }))
    }
}

struct CarelessStep {
    inner: Arc<dyn Step>,
    world: Careless,
    name: String,
}

#[async_trait]
impl Step for CarelessStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        match self.world.1 {
            Mistake::CreatesWithoutLooking => {
                self.world.0.put_stranger(&self.name);
                Ok(Outputs::default().with("number", 0))
            }
            Mistake::ForgetsToRemove => self.inner.ensure(context).await,
        }
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        match self.world.1 {
            // Only what was recorded is removed, so what a lost reply left behind stays.
            Mistake::ForgetsToRemove if outputs.is_none() => Ok(()),
            _ => self.inner.remove(context, outputs).await,
        }
    }
}

async fn notices<F: Future<Output = ()>>(suite: F) -> bool {
    AssertUnwindSafe(suite).catch_unwind().await.is_err()
}

#[tokio::test]
async fn the_suites_find_the_mistakes_they_are_there_for() {
    let creates = CarelessFixture(Mistake::CreatesWithoutLooking);
    assert!(notices(repeat_every_step(&creates)).await);
    assert!(notices(kill_at_every_step(&creates)).await);
    let forgets = CarelessFixture(Mistake::ForgetsToRemove);
    assert!(notices(fail_at_every_step(&forgets)).await);
    assert!(notices(kill_every_removal(&forgets)).await);
}
