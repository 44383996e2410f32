//! The rules in force, and what they decide about a call.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Effect, Rule};

/// The rules in force, with how often each matched and fired.
///
/// What it decides depends on nothing but the seed, the rules and the calls seen so far. Each rule draws from a stream of
/// its own, so adding a rule does not change when another one fires.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultPlan {
    seed: u64,
    rules: BTreeMap<u64, Counted>,
    last_id: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct Counted {
    rule: Rule,
    calls: u64,
    fired: u64,
}

/// A rule in force, for the admin endpoint.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RuleStatus {
    /// Its number, to remove it by.
    pub id: u64,
    /// The rule as text.
    pub rule: String,
    /// The rule's parts.
    #[serde(flatten)]
    pub parts: Rule,
    /// How many calls matched it.
    pub calls: u64,
    /// On how many of them it took effect.
    pub fired: u64,
}

/// What is to happen to a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Simulated time to wait first: the sum over all latency rules that fired.
    pub latency: Duration,
    /// What else to do: the first rule that fired, in the order in which rules were added.
    pub fault: Option<Fault>,
}

/// A fault that takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The rule it comes from.
    pub rule: u64,
    /// What it does.
    pub effect: Effect,
}

impl FaultPlan {
    /// A plan without rules.
    pub fn new(seed: u64) -> Self {
        Self { seed, rules: BTreeMap::new(), last_id: 0 }
    }

    /// Adds a rule; the number returned removes it.
    pub fn add(&mut self, rule: Rule) -> u64 {
        self.last_id += 1;
        self.rules.insert(self.last_id, Counted { rule, calls: 0, fired: 0 });
        self.last_id
    }

    /// Removes a rule; false if there is none of that number.
    pub fn remove(&mut self, id: u64) -> bool {
        self.rules.remove(&id).is_some()
    }

    /// Removes all rules.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// The rules in force.
    pub fn rules(&self) -> Vec<RuleStatus> {
        self.rules.iter().map(|(id, counted)| counted.status(*id)).collect()
    }

    /// One rule in force.
    pub fn rule(&self, id: u64) -> Option<RuleStatus> {
        self.rules.get(&id).map(|counted| counted.status(id))
    }

    /// Counts a call and decides what is to happen to it.
    pub fn decide(&mut self, method: &str, path: &str, query: &str) -> Decision {
        let mut decision = Decision::default();
        for (id, counted) in &mut self.rules {
            if !counted.rule.matches(method, path, query) {
                continue;
            }
            counted.calls += 1;
            if !counted.rule.fires_on(counted.calls, |call| draw(self.seed, *id, call)) {
                continue;
            }
            match counted.rule.effect {
                Effect::Latency(latency) => decision.latency = decision.latency.saturating_add(latency),
                effect if decision.fault.is_none() => decision.fault = Some(Fault { rule: *id, effect }),
                _ => continue,
            }
            counted.fired += 1;
        }
        decision
    }
}

impl Counted {
    fn status(&self, id: u64) -> RuleStatus {
        let (parts, rule) = (self.rule.clone(), self.rule.to_string());
        RuleStatus { id, rule, parts, calls: self.calls, fired: self.fired }
    }
}

impl Rule {
    fn matches(&self, method: &str, path: &str, query: &str) -> bool {
        (self.methods.is_empty() || self.methods.iter().any(|known| known == method)) && self.path.matches(path, query)
    }

    /// Whether it fires on the `call`-th matching call, given what it draws (0 to 1) for a call.
    fn fires_on(&self, call: u64, draw: impl FnOnce(u64) -> f64) -> bool {
        let trigger = &self.trigger;
        trigger.nth.is_none_or(|nth| call == nth)
            && trigger.first.is_none_or(|first| call <= first)
            && trigger.from.is_none_or(|from| call >= from)
            && trigger.probability.is_none_or(|probability| draw(call) < probability)
    }
}

/// The number that a rule draws for its `call`-th matching call: a function of its arguments, not of what was drawn before.
fn draw(seed: u64, rule: u64, call: u64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(rule);
    random.set_word_pos(u128::from(call) * 2);
    random.random()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(seed: u64, rules: &[&str]) -> FaultPlan {
        let mut plan = FaultPlan::new(seed);
        for rule in rules {
            plan.add(rule.parse().unwrap());
        }
        plan
    }

    fn fired(plan: &mut FaultPlan, calls: u64) -> Vec<u64> {
        (1..=calls).filter(|_| plan.decide("GET", "/a", "").fault.is_some()).collect()
    }

    #[test]
    fn triggers() {
        assert_eq!(fired(&mut plan(0, &["GET /a reset"]), 3), [1, 2, 3]);
        assert_eq!(fired(&mut plan(0, &["GET /a nth=2 reset"]), 4), [2]);
        assert_eq!(fired(&mut plan(0, &["GET /a first=2 reset"]), 4), [1, 2]);
        assert_eq!(fired(&mut plan(0, &["GET /a from=3 reset"]), 4), [3, 4]);
        assert_eq!(fired(&mut plan(0, &["POST /a reset"]), 4), [0; 0]);
        assert_eq!(fired(&mut plan(0, &["GET /a probability=0 reset"]), 100), [0; 0]);
        assert_eq!(fired(&mut plan(0, &["GET /a probability=1 reset"]), 3), [1, 2, 3]);
    }

    #[test]
    fn latencies_add_up_and_the_first_other_fault_wins() {
        let rules = ["* * latency=1s", "GET * nth=1 status=503", "* /a latency=500ms", "* * lost-reply"];
        let mut plan = plan(0, &rules);
        let first = plan.decide("GET", "/a", "");
        assert_eq!(first.latency, Duration::from_millis(1500));
        assert_eq!(first.fault.map(|fault| fault.rule), Some(2));
        let second = plan.decide("GET", "/b", "");
        assert_eq!(second.latency, Duration::from_secs(1));
        assert_eq!(second.fault.map(|fault| fault.effect), Some(Effect::LostReply));
        let counts: Vec<_> = plan.rules().iter().map(|rule| (rule.calls, rule.fired)).collect();
        assert_eq!(counts, [(2, 2), (2, 1), (1, 1), (2, 1)], "a rule that lost did not fire");
    }

    proptest! {
        #[test]
        fn the_same_seed_and_calls_give_the_same_faults(seed: u64, calls in 1..200_u64) {
            let rules = ["GET /a probability=0.3 reset"];
            let first = fired(&mut plan(seed, &rules), calls);
            prop_assert_eq!(&first, &fired(&mut plan(seed, &rules), calls));
        }

        #[test]
        fn other_rules_and_other_calls_do_not_change_when_a_rule_fires(seed: u64, noise in prop::collection::vec(any::<bool>(), 1..100)) {
            let mut alone = plan(seed, &["GET /a probability=0.5 reset"]);
            let mut crowded = plan(seed, &["GET /a probability=0.5 reset", "GET /b probability=0.5 reset"]);
            for other in noise {
                if other {
                    crowded.decide("GET", "/b", "");
                }
                prop_assert_eq!(alone.decide("GET", "/a", "").fault, crowded.decide("GET", "/a", "").fault);
            }
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]

        #[test]
        fn about_as_many_calls_fail_as_the_probability_says(seed: u64) {
            let count = fired(&mut plan(seed, &["GET /a probability=0.25 reset"]), 2000).len();
            // Five standard deviations either way.
            prop_assert!((400..=600).contains(&count), "{}", count);
        }
    }
}
