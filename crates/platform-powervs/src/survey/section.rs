//! What the answers make of the platform's section.

use landfall_platform::survey::{Answers, Field, Key, PoolAnswers};
use serde_json::{Value, json};

use super::{NEW, image, key, machines, place};

/// The section as far as it was asked for.
pub(super) fn section(answers: &Answers) -> Value {
    let asked = |key: Key| answers.text(key).filter(|_| !answers.is_given(key)).map(str::trim);
    let mut tree = json!({ "platform": { "powervs": {} } });
    let texts = [
        key::ZONE,
        key::GROUP,
        key::WORKSPACE,
        key::VPC,
        key::GATEWAY,
        key::REGIONAL,
        key::BUCKET,
        key::OBJECT,
        key::BUCKET_REGION,
        key::ACCESS,
        key::SYSTEM,
        key::PROCESSOR_TYPE,
        key::STORAGE,
        key::THREADS,
    ];
    for key in texts {
        if let Some(text) = asked(key).filter(|text| *text != NEW) {
            Field::text(key).put(&mut tree, text);
        }
    }
    for key in [key::PROCESSORS, key::MEMORY] {
        if let Some(text) = asked(key) {
            Field::number(key).put(&mut tree, text);
        }
    }
    if let Some(text) = asked(key::SUBNETS) {
        Field::texts(key::SUBNETS).put(&mut tree, text);
    }
    // The other one is what a cluster is without a word.
    if asked(key::PUBLISH) == Some(place::INTERNAL) {
        Field::text(key::PUBLISH).put(&mut tree, place::INTERNAL);
    }
    if let Some(existing) = asked(key::IMAGE).filter(|text| ![NEW, image::OWN].contains(text)) {
        tree["platform"]["powervs"]["image"] = json!({ "existing": existing });
    }
    tree["platform"]["powervs"].take()
}

/// What was asked about pools: how many machines, and what workers have that masters do not.
pub(super) fn pools(answers: &Answers) -> PoolAnswers {
    let asked = |key: Key| answers.text(key).filter(|_| !answers.is_given(key)).map(str::trim);
    let mut compute = json!({});
    if machines::are_different(answers) {
        let mut put = |field: Field, key: Key| {
            if let Some(text) = asked(key) {
                field.put(&mut compute, text);
            }
        };
        for (name, key) in [
            ("sysType", key::WORKER_SYSTEM),
            ("procType", key::WORKER_PROCESSOR_TYPE),
            ("storageType", key::WORKER_STORAGE),
            ("smtLevel", key::WORKER_THREADS),
        ] {
            put(Field::text(name), key);
        }
        for (name, key) in [("processors", key::WORKER_PROCESSORS), ("memoryGiB", key::WORKER_MEMORY)] {
            put(Field::number(name), key);
        }
    }
    let number = |key: Key| asked(key).and_then(|text| text.parse().ok());
    PoolAnswers { control_plane: Value::Null, compute, masters: number(key::MASTERS), workers: number(key::WORKERS) }
}
