//! Applying manifests: the objects of files, each sent to where the API says that its kind is.

use serde_json::Value;

use super::Host;
use super::client::Client;

/// Applies the files of a directory in the order of their names.
pub(super) async fn apply(host: &Host, client: &Client, directory: &str) -> Result<(), String> {
    for (path, contents) in host.system.directory(directory) {
        let text = String::from_utf8(contents).map_err(|_| format!("{path} is not text"))?;
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(&text).map_err(|error| format!("cannot read {path}: {error}"))?;
        for document in documents.iter().filter(|document| !document.is_null()) {
            let is_list = document["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
            match document["items"].as_array().filter(|_| is_list) {
                Some(items) => {
                    for item in items {
                        apply_object(client, item).await.map_err(|reason| format!("{path}: {reason}"))?;
                    }
                }
                None => apply_object(client, document).await.map_err(|reason| format!("{path}: {reason}"))?,
            }
        }
    }
    Ok(())
}

/// Adds an object; one that is there stays as it is.
async fn apply_object(client: &Client, object: &Value) -> Result<(), String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (version, kind) =
        text(&object["apiVersion"]).zip(text(&object["kind"])).ok_or("it has an object without a kind")?;
    let root = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
    let known = client.get(&root).await?.unwrap_or_default();
    let resources = known["resources"].as_array().into_iter().flatten();
    let mut of_kind = resources.filter(|resource| {
        resource["kind"] == kind.as_str() && !resource["name"].as_str().unwrap_or("/").contains('/')
    });
    let resource = of_kind.next().ok_or_else(|| format!("the cluster knows no {kind} of {version}"))?;
    let name = resource["name"].as_str().unwrap_or_default();
    let path = if resource["namespaced"] == true {
        let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or("default");
        format!("{root}/namespaces/{namespace}/{name}")
    } else {
        format!("{root}/{name}")
    };
    client.create(&path, object).await.map(drop)
}
