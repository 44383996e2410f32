//! Manifests.

use landfall_platform::Mode;
use serde_json::Value;

use crate::configs::{Rendered, edited, example};

fn objects(rendered: &Rendered) -> Vec<Value> {
    let files = rendered.manifests.iter();
    files
        .flat_map(|(_, file)| serde_saphyr::from_multiple(std::str::from_utf8(&file.contents).unwrap()).unwrap())
        .collect()
}

fn find<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let found = objects.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("no {kind} {name}"))
}

#[test]
fn every_manifest_is_an_object_that_kubernetes_could_store() {
    let rendered = Rendered::new(example());
    for object in objects(&rendered) {
        for field in ["/apiVersion", "/kind", "/metadata/name"] {
            assert!(object.pointer(field).is_some_and(Value::is_string), "{field} in {object}");
        }
    }
}

#[test]
fn only_files_with_secrets_are_private() {
    let rendered = Rendered::new(example());
    for (path, file) in rendered.manifests.iter() {
        let secret = String::from_utf8_lossy(&file.contents).contains("kind: Secret");
        assert_eq!(file.mode == Mode::Private, secret, "{path}");
    }
}

/// The API server drops fields of custom objects that the definition does not name, so it must name those that we write.
#[test]
fn machine_objects_fit_their_definitions() {
    let rendered = Rendered::new(example());
    let objects = objects(&rendered);
    for (kind, definition) in
        [("Machine", "machines.machine.openshift.io"), ("MachineSet", "machinesets.machine.openshift.io")]
    {
        let definition = find(&objects, "CustomResourceDefinition", definition);
        let schema = definition.pointer("/spec/versions/0/schema/openAPIV3Schema").unwrap();
        for object in objects.iter().filter(|object| object["kind"] == kind) {
            fits(schema, object, kind);
        }
    }
}

/// Whether a structural schema names every field of a value.
fn fits(schema: &Value, value: &Value, path: &str) {
    if schema["x-kubernetes-preserve-unknown-fields"] == true || path.ends_with("/metadata") {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let path = format!("{path}/{name}");
                let sub = schema.pointer(&format!("/properties/{name}")).or_else(|| schema.get("additionalProperties"));
                fits(sub.unwrap_or_else(|| panic!("{path} is not in the definition")), field, &path);
            }
            for required in schema["required"].as_array().into_iter().flatten() {
                assert!(fields.contains_key(required.as_str().unwrap()), "{path} lacks {required}");
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fits(&schema["items"], item, path)),
        Value::String(_) => assert_eq!(schema["type"], "string", "{path}"),
        Value::Number(_) => assert_eq!(schema["type"], "integer", "{path}"),
        Value::Bool(_) => assert_eq!(schema["type"], "boolean", "{path}"),
        Value::Null => panic!("{path} is null"),
    }
}

/// What the API server demands of a structural schema: every value has a type, unless it is marked.
#[test]
fn definitions_are_structural() {
    let rendered = Rendered::new(example());
    let definitions = objects(&rendered).into_iter().filter(|object| object["kind"] == "CustomResourceDefinition");
    assert_eq!(
        definitions
            .map(|definition| structural(&definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"], ""))
            .count(),
        3
    );
}

fn structural(schema: &Value, path: &str) {
    let typed = schema["type"].is_string() || schema["x-kubernetes-int-or-string"] == true;
    assert!(typed, "{path} has no type");
    assert!(!(schema.get("properties").is_some() && schema.get("additionalProperties").is_some()), "{path} has both");
    assert_eq!(schema["type"] == "array", schema.get("items").is_some(), "{path}");
    for (name, sub) in schema["properties"].as_object().into_iter().flatten() {
        structural(sub, &format!("{path}/{name}"));
    }
    for sub in [schema.get("items"), schema.get("additionalProperties")].into_iter().flatten() {
        structural(sub, &format!("{path}/*"));
    }
}

#[test]
fn machine_sets_can_be_scaled() {
    let rendered = Rendered::new(example());
    let objects = objects(&rendered);
    let definition = find(&objects, "CustomResourceDefinition", "machinesets.machine.openshift.io");
    let scale = definition.pointer("/spec/versions/0/subresources/scale").unwrap();
    let properties = "/spec/versions/0/schema/openAPIV3Schema/properties";
    for (key, field) in [
        ("specReplicasPath", "/spec/properties/replicas"),
        ("statusReplicasPath", "/status/properties/replicas"),
        ("labelSelectorPath", "/status/properties/labelSelector"),
    ] {
        assert_eq!(scale[key].as_str().unwrap().replace('.', "/"), field.replace("/properties", ""));
        assert!(definition.pointer(&format!("{properties}{field}")).is_some(), "{field}");
    }
}

#[test]
fn a_selector_matches_the_machines_of_its_set_alone() {
    let rendered = Rendered::new(edited(|config| {
        let mut pool = config.compute[0].clone();
        pool.name = "storage".to_owned();
        config.compute.push(pool);
        config.labels.insert("team".to_owned(), "blue".to_owned());
    }));
    let objects = objects(&rendered);
    let sets: Vec<&Value> = objects.iter().filter(|object| object["kind"] == "MachineSet").collect();
    assert_eq!(sets.len(), 2);
    let matches = |selector: &Value, labels: &Value| {
        selector["matchLabels"].as_object().unwrap().iter().all(|(key, value)| labels[key] == *value)
    };
    for set in &sets {
        for other in &sets {
            let labels = &other["spec"]["template"]["metadata"]["labels"];
            assert_eq!(matches(&set["spec"]["selector"], labels), set == other);
            assert_eq!(labels["team"], "blue");
        }
        // Masters belong to no set, and there are no other machines: the sets are to make them.
        let mut machines = objects.iter().filter(|object| object["kind"] == "Machine");
        assert!(machines.all(|machine| !matches(&set["spec"]["selector"], &machine["metadata"]["labels"])));
        assert_eq!(set["spec"]["replicas"], 2);
    }
}

#[test]
fn the_stored_install_config_has_no_secrets() {
    let rendered = Rendered::new(edited(|config| {
        config.pull_secret = Some(landfall_config::PullSecret::new(r#"{"auths":{"x":{"auth":"c2VjcmV0"}}}"#));
        config.proxy = Some(landfall_config::Proxy {
            http_proxy: Some("http://user:s3cret@proxy:3128".to_owned()),
            ..Default::default()
        });
    }));
    let text = rendered.text("manifests/01-cluster-info.yaml");
    assert!(text.contains("proxy:3128"));
    for secret in ["c2VjcmV0", "s3cret", "pullSecret"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

/// Whoever looks after the machines alone gets a cluster that cannot: no objects, no controller, no credentials; and kubelets that need
/// nobody's approval.
#[test]
fn machines_of_the_user_are_nothing_to_the_cluster() {
    let rendered =
        Rendered::new(edited(|config| config.machines = Some(landfall_config::MachineManagement::UserManaged)));
    for (path, file) in rendered.manifests.iter() {
        let text = String::from_utf8_lossy(&file.contents);
        assert!(!path.contains("machine") && !text.contains("kind: Secret"), "{path}");
    }
    let kinds: Vec<String> = objects(&rendered).iter().map(|object| object["kind"].to_string()).collect();
    assert!(
        !kinds
            .iter()
            .any(|kind| kind.contains("Machine") || kind.contains("Definition") || kind.contains("Deployment")),
        "{kinds:?}"
    );
    assert!(!objects(&rendered).is_empty());
}
