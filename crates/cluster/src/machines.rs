//! What the machine objects of a cluster say, as far as somebody who waits for nodes wants to know.

use serde::Deserialize;

use crate::Api;

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
}

#[derive(Deserialize)]
struct Operation {
    state: String,
    #[serde(default)]
    description: String,
}

impl Api {
    /// What stands in the way of machines that are not as they should be, one text for each. Nothing if nobody can be asked:
    /// those who wait learn that elsewhere.
    pub(crate) async fn machine_troubles(&self) -> Vec<String> {
        let path = "apis/machine.openshift.io/v1beta1/machines";
        let machines: Option<List<Object>> = self.get("listing the machines", path).await.unwrap_or_default();
        machines.map(|list| list.items).unwrap_or_default().into_iter().filter_map(trouble).collect()
    }
}

fn trouble(Object { metadata, status }: Object) -> Option<String> {
    let failed = status.last_operation.filter(|last| last.state == "Failed").map(|last| last.description);
    let reason = status.error_message.or(failed)?;
    Some(format!("machine {}: {reason}", metadata.name))
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
        let said: Vec<String> = list.items.into_iter().filter_map(trouble).collect();
        assert_eq!(said, ["machine full: the storage domain is full", "machine dead: there is no template rhcos"]);
    }
}
