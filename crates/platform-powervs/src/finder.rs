//! Steps that remove what was found of a kind that VPC or the transit gateway service lists.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use landfall_platform::{StepId, StepSpec};
use serde_json::json;

use crate::{
    Error, Site,
    client::{Crn, Resource},
    steps::Desired,
};

/// How long the removal of something that was found may take.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(40);

/// Tells what is the cluster's from what is not.
pub(crate) struct Finder<'a> {
    pub(crate) site: &'a Site,
    pub(crate) tagged: &'a [Crn],
    /// Set when something carries the tag and stays, because it is the user's.
    pub(crate) kept: &'a AtomicBool,
}

impl Finder<'_> {
    /// Steps for the cluster's objects of a kind. `names` are those of the plan, each with its step; `desired` says what is removed.
    pub(crate) async fn all<T: Resource>(
        &self,
        all: &[T],
        names: &[(String, String)],
        needs: &[StepId],
        desired: impl Fn(String) -> Desired,
    ) -> Result<Vec<StepSpec>, Error> {
        let mut steps = Vec::new();
        for object in all {
            let planned = names.iter().find(|(name, _)| name == object.name());
            let title = format!("{} {}", T::TITLE, object.name());
            // What has a name of the plan and no tag is another user's, or one that only a journal knows.
            if !self.is_tagged(object, planned.is_some()).await? {
                continue;
            }
            if self.site.is_given(object.id(), object.name()) {
                self.kept.store(true, Ordering::Relaxed);
            } else {
                let stray = || (object.id().to_owned(), format!("{}/{}", T::KIND, object.id()));
                let (name, step) = planned.cloned().unwrap_or_else(stray);
                steps.push(identified(found(&step, title, T::KIND, needs, &desired(name)), object.id()));
            }
        }
        Ok(steps)
    }

    /// Returns true if an object carries the cluster's tag. The search learns of tags late, and forgets them late; so what it finds, and
    /// what has a name of the plan, is asked for at the tagging service.
    async fn is_tagged<T: Resource>(&self, object: &T, is_planned: bool) -> Result<bool, Error> {
        let is_found = self.tagged.iter().any(|crn| crn.kind == T::KIND_OF_CRN && crn.id == object.id());
        Ok(match object.crn() {
            "" => is_found,
            crn => (is_found || is_planned) && self.site.carries_tag(crn).await?,
        })
    }
}

/// With the id of the object, which tells what was renamed from what a plan means.
pub(crate) fn identified(mut step: StepSpec, id: &str) -> StepSpec {
    step.desired["id"] = json!(id);
    step
}

pub(crate) fn found(id: &str, title: String, kind: &str, needs: &[StepId], desired: &Desired) -> StepSpec {
    StepSpec {
        id: id.into(),
        title,
        kind: kind.into(),
        needs: needs.to_vec(),
        timeout: TIMEOUT,
        desired: serde_json::to_value(desired).expect("what a step makes has string keys only"),
    }
}
