//! What a removal goes by although nothing was found for it, as a dry run lists it.

use std::time::Duration;

use landfall_engine::{Journal, Record, unfound};
use landfall_platform::{Outputs, StepSpec};
use serde_json::{Value, json};

fn step(id: &str, desired: Value) -> StepSpec {
    let (title, timeout) = (id.to_owned(), Duration::from_secs(1));
    StepSpec { id: id.into(), title, kind: "thing".into(), needs: Vec::new(), timeout, desired }
}

#[tokio::test]
async fn an_object_is_told_from_another_by_its_id() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(&home.path().join("journal.sqlite"), &"a-bcdfg".parse().unwrap()).unwrap();
    let id = |id: &str| Outputs::default().with("id", id);
    for (name, outputs) in [
        ("vm/renamed", id("1")),
        ("vm/doubled", id("2")),
        ("network", id("3")),
        ("workspace", id("4").with("given", true)),
        ("vm/lost", id("5")),
        ("route", Outputs::default()),
        ("gateway", Outputs::default().with("asked", true)),
        ("balancer", Outputs::default().with("asked", true)),
    ] {
        journal.record(name.into(), Record::EnsureBegins(Box::new(step(name, json!({}))))).await.unwrap();
        journal.record(name.into(), Record::EnsureDone(outputs)).await.unwrap();
    }
    let found = [
        step("vm/1", json!({ "id": "1" })),
        // Another machine got the name of the one that was recorded.
        step("vm/doubled", json!({ "id": "9" })),
        step("network", json!({})),
        step("balancer", json!({ "id": "7" })),
    ];
    let snapshot = journal.snapshot().await.unwrap();
    let titles: Vec<&str> = unfound(&snapshot, &found).iter().map(|entry| entry.spec.title.as_str()).collect();
    assert_eq!(titles, ["vm/doubled", "vm/lost", "gateway"]);
}
