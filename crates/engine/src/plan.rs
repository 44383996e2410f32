//! A plan: steps and what each of them needs. Making one is pure, and a plan that exists is sound.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use landfall_platform::{Kind, StepId, StepSpec};
use petgraph::{Direction, algo::toposort, graph::DiGraph, graph::NodeIndex};

/// Steps at once of a kind for which the plan says nothing.
const DEFAULT_LIMIT: usize = 10;

/// A sound plan: ids are unique, every needed step exists, and nothing needs itself.
#[derive(Clone, Debug)]
pub struct Plan {
    graph: DiGraph<StepSpec, ()>,
    order: Vec<NodeIndex>,
    index: HashMap<StepId, NodeIndex>,
    limits: BTreeMap<Kind, usize>,
}

/// Collects steps.
#[derive(Clone, Debug, Default)]
pub struct PlanBuilder {
    steps: Vec<StepSpec>,
    limits: BTreeMap<Kind, usize>,
}

/// Why steps do not make a plan. Always a mistake of the program that made them.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Two steps have one id.
    #[error("two steps are called {0}")]
    Duplicate(StepId),
    /// A step needs one that is not in the plan.
    #[error("step {step} needs {needed}, which is not in the plan")]
    Unknown {
        /// The step.
        step: StepId,
        /// What it needs.
        needed: StepId,
    },
    /// A step needs itself, perhaps through others.
    #[error("step {0} needs itself through others")]
    Cycle(StepId),
}

impl PlanBuilder {
    /// Adds a step.
    pub fn step(&mut self, spec: StepSpec) -> &mut Self {
        self.steps.push(spec);
        self
    }

    /// Lets at most `at_once` steps of a kind run side by side.
    pub fn limit(&mut self, kind: impl Into<Kind>, at_once: usize) -> &mut Self {
        self.limits.insert(kind.into(), at_once.max(1));
        self
    }

    /// Checks the steps and makes the plan.
    pub fn build(self) -> Result<Plan, PlanError> {
        let mut graph = DiGraph::new();
        let mut index = HashMap::new();
        for spec in self.steps {
            let id = spec.id.clone();
            let node = graph.add_node(spec);
            if index.insert(id.clone(), node).is_some() {
                return Err(PlanError::Duplicate(id));
            }
        }
        for node in graph.node_indices() {
            for needed in graph[node].needs.clone() {
                let Some(&needed_node) = index.get(&needed) else {
                    return Err(PlanError::Unknown { step: graph[node].id.clone(), needed });
                };
                graph.add_edge(needed_node, node, ());
            }
        }
        toposort(&graph, None).map_err(|cycle| PlanError::Cycle(graph[cycle.node_id()].id.clone()))?;
        let order = order(&graph);
        Ok(Plan { graph, order, index, limits: self.limits })
    }
}

/// The order in which steps were added, with each after those that it needs: who makes a plan puts first what should
/// start first. The graph has no cycles.
fn order(graph: &DiGraph<StepSpec, ()>) -> Vec<NodeIndex> {
    let mut missing: Vec<usize> = graph.node_indices().map(|node| graph[node].needs.len()).collect();
    let mut ready: BTreeSet<NodeIndex> = graph.node_indices().filter(|node| missing[node.index()] == 0).collect();
    let mut order = Vec::with_capacity(graph.node_count());
    while let Some(node) = ready.pop_first() {
        order.push(node);
        for follower in graph.neighbors_directed(node, Direction::Outgoing) {
            missing[follower.index()] -= 1;
            if missing[follower.index()] == 0 {
                ready.insert(follower);
            }
        }
    }
    order
}

impl Plan {
    /// All steps in the order in which they were added, but each after those that it needs.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = &StepSpec> {
        self.order.iter().map(|&node| &self.graph[node])
    }

    /// The step with an id.
    pub fn step(&self, id: &StepId) -> Option<&StepSpec> {
        self.index.get(id).map(|&node| &self.graph[node])
    }

    /// Steps that need the given one directly.
    pub fn dependents(&self, id: &StepId) -> impl Iterator<Item = &StepSpec> {
        let node = self.index.get(id).copied();
        node.into_iter()
            .flat_map(|node| self.graph.neighbors_directed(node, Direction::Outgoing))
            .map(|node| &self.graph[node])
    }

    /// How many steps of a kind may run side by side.
    pub fn limit(&self, kind: &Kind) -> usize {
        self.limits.get(kind).copied().unwrap_or(DEFAULT_LIMIT)
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn spec(id: &str, needs: &[&str]) -> StepSpec {
        StepSpec {
            id: id.into(),
            title: id.to_owned(),
            kind: "thing".into(),
            needs: needs.iter().map(|&need| need.into()).collect(),
            timeout: Duration::from_secs(1),
            desired: serde_json::Value::Null,
        }
    }

    fn build(steps: &[(&str, &[&str])]) -> Result<Plan, PlanError> {
        let mut builder = PlanBuilder::default();
        for (id, needs) in steps {
            builder.step(spec(id, needs));
        }
        builder.build()
    }

    #[test]
    fn steps_come_after_what_they_need() {
        let plan = build(&[("c", &["a", "b"]), ("b", &["a"]), ("a", &[])]).unwrap();
        let order: Vec<_> = plan.steps().map(|step| step.id.as_str()).collect();
        assert_eq!(order, ["a", "b", "c"]);
        let dependents: Vec<_> = plan.dependents(&"a".into()).map(|step| step.id.as_str()).collect();
        assert_eq!(dependents.len(), 2);
    }

    #[test]
    fn otherwise_steps_stay_in_the_order_in_which_they_were_added() {
        let plan = build(&[("tag", &[]), ("first", &["tag"]), ("second", &["image"]), ("image", &[]), ("third", &[])]);
        let plan = plan.unwrap();
        let order: Vec<_> = plan.steps().map(|step| step.id.as_str()).collect();
        assert_eq!(order, ["tag", "first", "image", "second", "third"]);
    }

    #[test]
    fn an_unsound_plan_is_refused() {
        assert_eq!(build(&[("a", &[]), ("a", &[])]).unwrap_err(), PlanError::Duplicate("a".into()));
        assert!(matches!(build(&[("a", &["b"])]).unwrap_err(), PlanError::Unknown { .. }));
        assert!(matches!(build(&[("a", &["b"]), ("b", &["a"])]).unwrap_err(), PlanError::Cycle(_)));
        assert!(matches!(build(&[("a", &["a"])]).unwrap_err(), PlanError::Cycle(_)));
    }
}
