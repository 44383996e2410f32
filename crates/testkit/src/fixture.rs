//! What a suite needs to know of a platform.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use landfall_engine::Plan;
use landfall_platform::{Bind, Discover, InfraId};

/// Makes worlds.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// A platform on which nothing of the cluster exists yet. Called before every single trial.
    async fn world(&self) -> Box<dyn World>;
}

/// A platform, with the plan of one cluster on it.
#[async_trait]
pub trait World: Send + Sync {
    /// The cluster's mark.
    fn infra_id(&self) -> InfraId;

    /// The plan under test.
    fn plan(&self) -> Plan;

    /// Makes the plan's steps act on this world.
    fn binder(&self) -> Arc<dyn Bind>;

    /// Finds what carries the cluster's mark on this world.
    fn discoverer(&self) -> Arc<dyn Discover>;

    /// Everything that exists in the world, one line per object, as the platform itself sees it and not as our client does.
    /// Things that vary between equal worlds (ids, times) must not be in it; things that exist twice must be in it twice.
    async fn inventory(&self) -> Vec<String>;
}

/// An inventory, in an order that does not depend on the platform's.
pub(crate) async fn inventory(world: &dyn World) -> Vec<String> {
    let mut lines = world.inventory().await;
    lines.sort();
    lines
}

/// Lines that are in one inventory and not in the other, for a failure message.
pub(crate) fn difference(expected: &[String], found: &[String]) -> String {
    let (a, b): (BTreeSet<_>, BTreeSet<_>) = (expected.iter().collect(), found.iter().collect());
    format!("missing: {:?}, too many: {:?}", a.difference(&b).collect::<Vec<_>>(), b.difference(&a).collect::<Vec<_>>())
}
