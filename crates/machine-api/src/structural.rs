//! Makes a schema one that the API server accepts in a definition: a "structural" one.

use serde_json::{Map, Value};

/// The schema, with what Kubernetes does not know taken away and what it wants otherwise rewritten.
pub(crate) fn structural(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else { return schema };
    for unknown in ["$schema", "title", "components", "definitions", "$defs"] {
        schema.remove(unknown);
    }
    // Unknown fields are dropped or reported by the API server itself.
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        schema.remove("additionalProperties");
    }
    unwrap_option(&mut schema);
    hoist_enum(&mut schema);
    if let Some(format) = schema.get("format").and_then(Value::as_str)
        && format.starts_with("uint")
    {
        // Not known; the minimum of zero, which comes with it, says the same.
        schema.remove("format");
    }
    // A default of `null` or of an empty object would be written into every object.
    if schema.get("default").is_some_and(|value| value.is_null() || value.is_object() || value.is_array()) {
        schema.remove("default");
    }
    for key in ["properties", "patternProperties"] {
        if let Some(Value::Object(properties)) = schema.get_mut(key) {
            for property in properties.values_mut() {
                *property = structural(property.take());
            }
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(key) {
            *inner = structural(inner.take());
        }
    }
    Value::Object(schema)
}

/// `Option<T>` of a type that is not a plain one is a choice between it and nothing. A field that is not required may be left
/// out anyway.
fn unwrap_option(schema: &mut Map<String, Value>) {
    schema.remove("nullable");
    if let Some(Value::Array(types)) = schema.get("type") {
        let kept = types.iter().find(|kind| *kind != "null").cloned();
        schema.insert("type".to_owned(), kept.unwrap_or(Value::Null));
    }
    if schema.contains_key("x-kubernetes-int-or-string") {
        return;
    }
    for choice in ["anyOf", "allOf"] {
        let Some(Value::Array(choices)) = schema.get(choice) else { continue };
        let mut real = choices.iter().filter(|choice| !is_null(choice));
        if let (Some(Value::Object(only)), None) = (real.next().cloned(), real.next()) {
            schema.remove(choice);
            for (key, value) in only {
                schema.entry(key).or_insert(value);
            }
        }
    }
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
        || schema["enum"] == serde_json::json!([null])
        || schema["const"] == Value::Null && schema.get("const").is_some()
}

/// An enum whose variants are documented is a choice of constants; Kubernetes wants one list of values.
fn hoist_enum(schema: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = schema.get("oneOf") else { return };
    let mut values = Vec::new();
    for variant in variants {
        match (variant.get("const"), variant.get("enum")) {
            (Some(value), _) => values.push(value.clone()),
            (None, Some(Value::Array(several))) => values.extend(several.iter().cloned()),
            _ => return,
        }
    }
    schema.remove("oneOf");
    schema.insert("type".to_owned(), "string".into());
    schema.insert("enum".to_owned(), values.into());
}
