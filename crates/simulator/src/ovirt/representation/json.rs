//! Reads a document in JSON. Numbers and flags are accepted as such and as strings, which is how the engine writes them.

use serde_json::{Map, Value as Json};

use super::read::{ReadError, Unknown, scalar};
use super::schema::{Field, Kind, Type};
use super::tree::{Tree, Value};

/// Reads a document of `kind`. JSON has no root element: the object holds the fields.
///
/// The depth is limited by the parser, to 128.
pub(crate) fn read(body: &[u8], kind: &'static Type, unknown: Unknown) -> Result<Tree, ReadError> {
    match serde_json::from_slice(body).map_err(ReadError::syntax)? {
        Json::Object(map) => fields(&map, kind, unknown),
        _ => Err(ReadError::syntax("the document is not an object")),
    }
}

fn fields(map: &Map<String, Json>, kind: &'static Type, unknown: Unknown) -> Result<Tree, ReadError> {
    let mut tree = Tree::new();
    for (name, json) in map {
        match kind.field(name) {
            Some(_) if json.is_null() => {}
            Some(field) => tree.set(field.name, value(field, json, unknown)?),
            None => unknown.check(kind.element, name)?,
        }
    }
    Ok(tree)
}

fn value(field: &'static Field, json: &Json, unknown: Unknown) -> Result<Value, ReadError> {
    let wrong = || ReadError::Value { field: field.name, value: json.to_string().chars().take(80).collect() };
    match (field.kind, json) {
        (Kind::Struct(kind), Json::Object(map)) => Ok(fields(map, kind, unknown)?.into()),
        (Kind::List(kind), json) => items(json, kind.element, field, unknown)?
            .map(|item| match item {
                Json::Object(map) => Ok(fields(map, kind, unknown)?.into()),
                _ => Err(wrong()),
            })
            .collect::<Result<Vec<_>, _>>()
            .map(|items| Value::List(kind.element, items.into())),
        (Kind::Repeated(kind), json) => one_or_many(json)
            .map(|item| match item {
                Json::Object(map) => Ok(fields(map, kind, unknown)?.into()),
                _ => Err(wrong()),
            })
            .collect::<Result<Vec<_>, _>>()
            .map(|items| Value::List(kind.element, items.into())),
        (Kind::Texts(element), json) => items(json, element, field, unknown)?
            .map(|item| item.as_str().map(Value::text).ok_or_else(wrong))
            .collect::<Result<Vec<_>, _>>()
            .map(|items| Value::List(element, items.into())),
        (Kind::Struct(_), _) | (_, Json::Object(_) | Json::Array(_) | Json::Null) => Err(wrong()),
        (_, Json::String(text)) => scalar(field, text),
        (_, Json::Bool(flag)) => scalar(field, if *flag { "true" } else { "false" }),
        (_, Json::Number(number)) => scalar(field, &number.to_string()),
    }
}

/// The items of a list: `{"nic": [...]}` as the engine writes it, and for convenience also a bare array.
fn items<'a>(
    json: &'a Json,
    element: &str,
    field: &'static Field,
    unknown: Unknown,
) -> Result<impl Iterator<Item = &'a Json>, ReadError> {
    let listed = match json {
        Json::Object(map) => {
            for name in map.keys().filter(|name| *name != element) {
                unknown.check(field.name, name)?;
            }
            map.get(element)
        }
        json => Some(json),
    };
    Ok(listed.into_iter().flat_map(one_or_many))
}

fn one_or_many(json: &Json) -> impl Iterator<Item = &Json> {
    match json {
        Json::Array(items) => items.iter(),
        json => std::slice::from_ref(json).iter(),
    }
}
