//! The JSON Schema of the install-config, and a view of it that knows only the shapes our types can have.

use std::sync::LazyLock;

use schemars::schema_for;
use serde_json::{Map, Value};

use crate::{InstallConfig, path::Segment};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let mut schema: Value = schema_for!(InstallConfig).into();
    simplify(&mut schema);
    schema
});

/// The JSON Schema of the install-config.
pub fn schema() -> Value {
    SCHEMA.clone()
}

/// A field or item in the schema.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    /// Where it is used: its documentation and default there.
    place: &'static Map<String, Value>,
    /// What it is, after following references.
    shape: &'static Map<String, Value>,
}

/// The shapes that nodes have.
pub(crate) enum Kind {
    /// Text, perhaps with a syntax.
    Text {
        /// Name of the syntax.
        format: Option<&'static str>,
        /// Whether there has to be at least one character.
        non_empty: bool,
    },
    /// A whole number.
    Integer {
        /// Smallest value.
        minimum: u64,
        /// Largest value.
        maximum: u64,
        /// The only values, if they can be counted.
        allowed: Option<Vec<u64>>,
    },
    /// A number, whole or not.
    Number,
    /// `true` or `false`.
    Boolean,
    /// One of some words, each with its documentation.
    Enumeration(Vec<(&'static str, Node)>),
    /// A mapping with exactly one of some keys.
    Choice(Vec<(&'static str, Node)>),
    /// A list of items.
    List(Node),
    /// A mapping with keys of the user's.
    Map {
        /// The only keys, if they can be counted.
        keys: Option<Vec<&'static str>>,
        /// What they lead to.
        values: Node,
    },
    /// A mapping with known keys.
    Object {
        /// All fields in the order of the documentation.
        fields: Vec<(&'static str, Node)>,
        /// Those that have no default.
        required: Vec<&'static str>,
    },
}

impl Node {
    /// The whole file.
    pub(crate) fn root() -> Self {
        Self::at(&SCHEMA)
    }

    fn at(place: &'static Value) -> Self {
        let place = object(place);
        let mut shape = place;
        while let Some(reference) = shape.get("$ref") {
            let pointer = reference.as_str().and_then(|r| r.strip_prefix('#')).expect("references are local");
            shape = object(SCHEMA.pointer(pointer).expect("references lead somewhere"));
        }
        Self { place, shape }
    }

    /// The node at a path, through lists with or without an index.
    pub(crate) fn at_path(segments: &[Segment]) -> Option<Self> {
        segments.iter().try_fold(Self::root(), Self::child)
    }

    /// One step down a path. A key after a list is that of its items.
    pub(crate) fn child(self, segment: &Segment) -> Option<Self> {
        match (self.kind(), segment) {
            (Kind::List(item), Segment::Index(_)) => Some(item),
            (Kind::List(item), Segment::Key(_)) => item.child(segment),
            (Kind::Map { values, .. }, Segment::Key(_)) => Some(values),
            (Kind::Object { fields, .. } | Kind::Choice(fields), Segment::Key(key)) => {
                fields.into_iter().find(|(name, _)| name == key).map(|(_, node)| node)
            }
            _ => None,
        }
    }

    /// What a list holds, or the node itself.
    pub(crate) fn item(self) -> Self {
        match self.kind() {
            Kind::List(item) => item.item(),
            _ => self,
        }
    }

    /// The documentation of the field, or else of its type.
    pub(crate) fn doc(self) -> &'static str {
        [self.place, self.shape].iter().find_map(|map| map.get("description")?.as_str()).unwrap_or_default()
    }

    /// What the type says beyond the field.
    pub(crate) fn type_doc(self) -> Option<&'static str> {
        let doc = self.shape.get("description")?.as_str()?;
        (!self.doc().contains(doc)).then_some(doc)
    }

    /// The value that is assumed when none is given.
    pub(crate) fn default(self) -> Option<&'static Value> {
        self.place.get("default")
    }

    /// Whether values must not be shown.
    pub(crate) fn is_secret(self) -> bool {
        self.shape.get("writeOnly").is_some_and(|secret| secret == true)
    }

    /// What it is.
    pub(crate) fn kind(self) -> Kind {
        if let Some(variants) = self.shape.get("oneOf") {
            return Self::of_variants(list(variants));
        }
        match self.shape.get("type").and_then(Value::as_str).expect("every schema has one type") {
            "string" => Kind::Text {
                format: self.shape.get("format").and_then(Value::as_str),
                non_empty: [self.place, self.shape].iter().any(|map| map.contains_key("minLength")),
            },
            "boolean" => Kind::Boolean,
            "integer" => self.integer(),
            "number" => Kind::Number,
            "array" => Kind::List(Self::at(&self.shape["items"])),
            "object" => self.mapping(),
            other => unreachable!("no type of the install-config is a {other}"),
        }
    }

    fn of_variants(variants: &'static [Value]) -> Kind {
        let words: Option<Vec<_>> =
            variants.iter().map(|variant| Some((variant.get("const")?.as_str()?, Self::at(variant)))).collect();
        if let Some(words) = words {
            return Kind::Enumeration(words);
        }
        let choices = variants.iter().map(|variant| {
            let (key, value) = object(&variant["properties"]).iter().next().expect("a variant has one key");
            (key.as_str(), Self { place: object(variant), shape: Self::at(value).shape })
        });
        Kind::Choice(choices.collect())
    }

    fn integer(self) -> Kind {
        let number = |key: &str| self.shape.get(key).and_then(Value::as_u64);
        let of_type = match self.shape.get("format").and_then(Value::as_str) {
            Some("uint8") => u64::from(u8::MAX),
            Some("uint16") => u64::from(u16::MAX),
            Some("uint32") => u64::from(u32::MAX),
            other => unreachable!("no number of the install-config is a {other:?}"),
        };
        Kind::Integer {
            minimum: number("minimum").unwrap_or(0),
            maximum: number("maximum").unwrap_or(of_type),
            allowed: self.shape.get("enum").map(|values| list(values).iter().filter_map(Value::as_u64).collect()),
        }
    }

    fn mapping(self) -> Kind {
        if let Some(values @ Value::Object(_)) = self.shape.get("additionalProperties") {
            let keys = self.shape.get("propertyNames").map(|names| words(&names["enum"]));
            return Kind::Map { keys, values: Self::at(values) };
        }
        let fields = self.shape.get("properties").map(object).into_iter().flatten();
        Kind::Object {
            fields: fields.map(|(name, field)| (name.as_str(), Self::at(field))).collect(),
            required: self.shape.get("required").map(words).unwrap_or_default(),
        }
    }
}

fn object(value: &'static Value) -> &'static Map<String, Value> {
    value.as_object().expect("schemas are objects")
}

fn list(value: &'static Value) -> &'static [Value] {
    value.as_array().expect("lists in schemas are arrays")
}

fn words(value: &'static Value) -> Vec<&'static str> {
    list(value).iter().filter_map(Value::as_str).collect()
}

/// Takes out what says nothing to a person: `null` as a way to leave a field out, and the empty text that stands for it in
/// the name of a pool.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("default").is_some_and(|default| default == "") {
                map.shift_remove("default");
            }
            if let Some(Value::Array(types)) = map.get("type")
                && let [kind, Value::String(null)] = types.as_slice()
                && null == "null"
            {
                let kind = kind.clone();
                map.insert("type".to_owned(), kind);
            }
            if let Some(Value::Array(choices)) = map.get("anyOf")
                && let [Value::Object(kind), _null] = choices.as_slice()
            {
                let kind = kind.clone();
                map.shift_remove("anyOf");
                for (key, value) in kind {
                    map.entry(key).or_insert(value);
                }
            }
            map.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(node: Node, path: &str, seen: &mut Vec<String>) {
        seen.push(path.to_owned());
        match node.kind() {
            Kind::Object { fields, .. } | Kind::Choice(fields) => {
                for (name, field) in fields {
                    assert!(!field.doc().is_empty(), "{path}.{name} has no documentation");
                    visit(field, &crate::path::key(path, name), seen);
                }
            }
            Kind::List(item) => visit(item, path, seen),
            Kind::Map { values, .. } => visit(values, path, seen),
            Kind::Text { .. } | Kind::Integer { .. } | Kind::Number | Kind::Boolean | Kind::Enumeration(_) => {}
        }
    }

    #[test]
    fn every_field_is_understood_and_documented() {
        let mut seen = Vec::new();
        visit(Node::root(), "", &mut seen);
        for path in ["platform.ovirt.defaultMachinePlatform.cpu.cores", "dns.rfc2136.keyName", "nodeAgent.sha512"] {
            assert!(seen.iter().any(|p| p == path), "{path}");
        }
    }

    #[test]
    fn knows_nothing_of_null() {
        assert!(!schema().to_string().contains("null"));
    }
}
