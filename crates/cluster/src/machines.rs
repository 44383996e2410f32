//! What the machine objects of a cluster say, as far as somebody who waits for nodes wants to know.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{Api, Error};

const PATH: &str = "apis/machine.openshift.io/v1beta1/machines";

/// Number of machines of a cluster, and of those that the platform refuses to create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MachineCounts {
    /// All machines.
    pub total: usize,
    /// Machines that wait because of a refusal, by its reason: `OutOfCapacity`, `Throttled`, …
    pub refused: BTreeMap<String, usize>,
}

impl fmt::Display for MachineCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in all", self.total)?;
        self.refused.iter().try_for_each(|(reason, count)| write!(f, ", {count} refused ({reason})"))
    }
}

#[derive(Deserialize)]
struct List<T> {
    items: Vec<T>,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    error_message: Option<String>,
    last_operation: Option<Operation>,
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
}

/// The condition of machines that the platform refuses to make.
const CREATED: &str = "InstanceCreated";

#[derive(Deserialize)]
struct Operation {
    state: String,
    #[serde(default)]
    description: String,
}

impl Api {
    /// What stands in the way of machines that are not as they should be, one text for each reason. Nothing if nobody can be asked:
    /// those who wait learn that elsewhere.
    pub(crate) async fn machine_troubles(&self) -> Vec<String> {
        let machines: Option<List<Object>> = self.get("listing the machines", PATH).await.unwrap_or_default();
        troubles(machines.map(|list| list.items).unwrap_or_default())
    }

    /// Returns how many machines there are, and how many of them the platform refuses. Nothing if the API knows no machines.
    pub async fn machine_counts(&self) -> Result<Option<MachineCounts>, Error> {
        let machines: Option<List<Object>> = self.get("listing the machines", PATH).await?;
        Ok(machines.map(|list| counts(&list.items)))
    }
}

fn counts(machines: &[Object]) -> MachineCounts {
    let mut counts = MachineCounts { total: machines.len(), ..MachineCounts::default() };
    for refused in machines.iter().filter_map(|machine| machine.status.conditions.iter().find(|one| one.is_refusal())) {
        *counts.refused.entry(refused.reason.clone()).or_default() += 1;
    }
    counts
}

impl Condition {
    fn is_refusal(&self) -> bool {
        self.kind == CREATED && self.status == "False"
    }
}

/// Returns one text for each reason. Hundreds of machines that the platform refuses for the same reason are one text.
fn troubles(machines: Vec<Object>) -> Vec<String> {
    let mut groups: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for Object { metadata, status } in machines {
        if let Some((kind, text)) = status.trouble() {
            groups.entry(kind).or_default().push((metadata.name, text));
        }
    }
    let text = |group: Vec<(String, String)>| match group.as_slice() {
        [(name, text)] => format!("machine {name}: {text}"),
        [(name, text), rest @ ..] => format!("machine {name} and {} more: {text}", rest.len()),
        [] => String::new(),
    };
    groups.into_values().map(text).collect()
}

impl Status {
    /// Returns why the machine is not as it should be: a word by which such machines are told together, and a text.
    fn trouble(self) -> Option<(String, String)> {
        if let Some(text) = self.error_message {
            return Some((text.clone(), text));
        }
        // While the next attempt is under way the last refusal still says what is in the way.
        let refused = self.conditions.into_iter().find(Condition::is_refusal);
        let failed = self.last_operation.filter(|last| last.state == "Failed").map(|last| last.description);
        match (refused, failed) {
            (Some(refused), failed) => Some((refused.reason, failed.unwrap_or(refused.message))),
            (None, failed) => failed.map(|text| (text.clone(), text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn machines_without_trouble_say_nothing() {
        let list: List<Object> = serde_json::from_value(json!({ "items": [
            { "metadata": { "name": "new" } },
            { "metadata": { "name": "well" }, "status": { "lastOperation": { "state": "Processing", "description": "copying" } } },
            { "metadata": { "name": "full" }, "status": {
                "lastOperation": { "state": "Failed", "description": "the storage domain is full" },
            } },
            { "metadata": { "name": "dead" }, "status": { "errorMessage": "there is no template rhcos" } },
        ] }))
        .unwrap();
        let said = troubles(list.items);
        assert_eq!(said, ["machine full: the storage domain is full", "machine dead: there is no template rhcos"]);
    }

    #[test]
    fn machines_that_are_refused_for_one_reason_are_told_together() {
        let refused = |number: u32| {
            json!({ "metadata": { "name": format!("w-{number}") }, "status": {
                "lastOperation": { "state": "Processing", "description": "starting" },
                "conditions": [{
                    "type": "InstanceCreated", "status": "False", "reason": "OutOfCapacity",
                    "message": format!("refused {number} times, last: no host has room"),
                }],
            } })
        };
        let list: List<Object> =
            serde_json::from_value(json!({ "items": (1..=300).map(refused).collect::<Vec<_>>() })).unwrap();
        assert_eq!(counts(&list.items).to_string(), "300 in all, 300 refused (OutOfCapacity)");
        assert_eq!(troubles(list.items), ["machine w-1 and 299 more: refused 1 times, last: no host has room"]);
    }
}
