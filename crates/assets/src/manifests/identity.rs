//! Which object a manifest is about, so that two files never fight over one.

use std::{collections::HashMap, fmt};

use landfall_platform::FileSet;
use serde_json::Value;

use super::DIRECTORY;
use crate::{Error, yaml};

/// What tells one object from another.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Identity {
    group: String,
    kind: String,
    namespace: String,
    name: String,
}

/// Whether a file in the manifest directory is one, by its name. Others, such as notes, are left alone.
pub(crate) fn is_manifest(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|suffix| path.ends_with(suffix))
}

/// Refuses files below `manifests/` that cannot be read, and two objects with the same group, kind, namespace and name.
pub(crate) fn check_duplicates(manifests: &FileSet) -> Result<(), Error> {
    let mut seen: HashMap<Identity, String> = HashMap::new();
    for (path, file) in manifests.below(DIRECTORY).filter(|(path, _)| is_manifest(path)) {
        let path = format!("{DIRECTORY}/{path}");
        for document in yaml::read(&path, &file.contents)? {
            for object in objects(&document) {
                let identity = Identity::of(object).ok_or_else(|| Error::NotAnObject { path: path.clone() })?;
                if let Some(first) = seen.insert(identity.clone(), path.clone()) {
                    return Err(Error::DuplicateObject { object: identity.to_string(), first, second: path });
                }
            }
        }
    }
    Ok(())
}

/// The objects of a document: itself, or the items of a list.
fn objects(document: &Value) -> Vec<&Value> {
    match document.get("items").and_then(Value::as_array) {
        Some(items) if document["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) => items.iter().collect(),
        _ => vec![document],
    }
}

impl Identity {
    fn of(object: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let metadata = object.get("metadata")?;
        let api_version = object.get("apiVersion")?.as_str()?;
        Some(Self {
            // The version does not matter: an object is the same one in all versions of its group.
            group: api_version.split_once('/').map_or("", |(group, _)| group).to_owned(),
            kind: text(object.get("kind")?)?,
            namespace: metadata.get("namespace").and_then(text).unwrap_or_default(),
            name: text(metadata.get("name")?)?,
        })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, kind, namespace, name } = self;
        f.write_str(kind)?;
        if !group.is_empty() {
            write!(f, ".{group}")?;
        }
        f.write_str(" ")?;
        if !namespace.is_empty() {
            write!(f, "{namespace}/")?;
        }
        f.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use landfall_platform::File;

    use super::*;

    fn check(files: &[(&str, &str)]) -> Result<(), Error> {
        let files = files.iter().map(|(path, text)| (format!("manifests/{path}"), File::public(*text)));
        check_duplicates(&files.collect())
    }

    const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\n";

    #[test]
    fn objects_that_differ_may_stand_together() {
        check(&[
            ("a.yaml", CONFIG_MAP),
            ("b.yaml", &CONFIG_MAP.replace("namespace: x", "namespace: y")),
            ("c.yml", &CONFIG_MAP.replace("ConfigMap", "Secret")),
            ("d.json", r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}"#),
            ("e.yaml", &CONFIG_MAP.replace("v1", "example.com/v1")),
            ("empty.yaml", "# nothing\n---\n"),
            ("README.md", "{not yaml"),
        ])
        .unwrap();
    }

    #[test]
    fn one_object_in_two_files_is_refused_with_both_names() {
        let error = check(&[("a.yaml", CONFIG_MAP), ("b.yaml", &format!("---\n{CONFIG_MAP}"))]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ConfigMap x/a is in manifests/a.yaml and in manifests/b.yaml; remove it from one of them"
        );
    }

    #[test]
    fn versions_and_lists_do_not_hide_a_duplicate() {
        let beta = "apiVersion: example.com/v1beta1\nkind: Thing\nmetadata: {name: a}\n";
        let list =
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: example.com/v1\n  kind: Thing\n  metadata: {name: a}\n";
        let error = check(&[("a.yaml", beta), ("b.yaml", list)]).unwrap_err();
        assert!(error.to_string().starts_with("Thing.example.com a is in"), "{error}");
    }

    #[test]
    fn what_is_no_object_is_refused_with_its_file() {
        for text in ["just text", "kind: ConfigMap", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}", "a: [", "- a"] {
            let error = check(&[("bad.yaml", text)]).unwrap_err();
            assert!(error.to_string().contains("manifests/bad.yaml"), "{text}: {error}");
        }
    }
}
