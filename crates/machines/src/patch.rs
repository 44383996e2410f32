//! Changing objects of the cluster.

use std::fmt::Debug;

use kube::{
    Api, Resource,
    api::{Patch, PatchParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::Error;

/// Changes parts of an object, if it is still the version that is known.
pub(crate) async fn change<K>(api: &Api<K>, object: &K, mut change: Value) -> Result<K, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let name = object.meta().name.as_deref().unwrap_or_default();
    change["metadata"]["resourceVersion"] = json!(object.meta().resource_version);
    let attempt = format!("changing {} {name}", K::kind(&()));
    api.patch(name, &PatchParams::default(), &Patch::Merge(change)).await.map_err(Error::api(attempt))
}

/// Says what is so about an object, if it is still the version that is known.
pub(crate) async fn change_status<K>(
    api: &Api<K>,
    object: &K,
    before: Option<&impl Serialize>,
    status: &impl Serialize,
) -> Result<K, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let name = object.meta().name.as_deref().unwrap_or_default();
    let to_value = |status| serde_json::to_value(status).expect("a status has string keys only");
    let mut after = serde_json::to_value(status).expect("a status has string keys only");
    // What is not said any more must be taken away by name.
    if let (Some(Value::Object(before)), Value::Object(after)) = (before.map(to_value), &mut after) {
        for key in before.keys() {
            after.entry(key.clone()).or_insert(Value::Null);
        }
    }
    let change = json!({ "metadata": { "resourceVersion": object.meta().resource_version }, "status": after });
    let attempt = format!("writing the status of {} {name}", K::kind(&()));
    api.patch_status(name, &PatchParams::default(), &Patch::Merge(change)).await.map_err(Error::api(attempt))
}
