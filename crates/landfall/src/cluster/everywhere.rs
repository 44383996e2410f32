//! Finding a cluster in all places where it may have something.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Discover, StepError, StepId, StepSpec, bootstrap_step};

/// Finds what several places hold.
pub(crate) struct Everywhere(pub(crate) Vec<Arc<dyn Discover>>);

#[async_trait]
impl Discover for Everywhere {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        let mut found = Vec::new();
        for place in &self.0 {
            found.extend(place.discover().await?);
        }
        masters_first(&mut found);
        Ok(found)
    }
}

/// Lets masters go before all machines that they may have made: as long as one of them runs, the cluster replaces what vanishes.
fn masters_first(found: &mut [StepSpec]) {
    let is_master = |id: &StepId| id.as_str().starts_with("vm/master-");
    let made = |id: &StepId| id.as_str().starts_with("vm/") && !is_master(id) && *id != bootstrap_step();
    let made: Vec<StepId> = found.iter().map(|spec| &spec.id).filter(|id| made(id)).cloned().collect();
    for spec in found.iter_mut().filter(|spec| is_master(&spec.id)) {
        spec.needs.extend(made.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn machines_that_masters_made_go_after_them() {
        let mut found: Vec<StepSpec> = ["tag", "vm/bootstrap", "vm/master-0", "vm/worker-x7k2p"]
            .map(|id| StepSpec {
                id: id.into(),
                title: id.to_owned(),
                kind: "vm".into(),
                needs: Vec::new(),
                timeout: Duration::ZERO,
                desired: serde_json::Value::Null,
            })
            .into();
        masters_first(&mut found);
        // What needs something is removed before it.
        let needs: Vec<_> = found.iter().map(|spec| spec.needs.clone()).collect();
        assert_eq!(needs, [vec![], vec![], vec!["vm/worker-x7k2p".into()], vec![]]);
    }
}
