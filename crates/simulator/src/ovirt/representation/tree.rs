//! A document of the API in memory: what a client sent, or the configuration that an entity stores.
//!
//! Parts are shared, not copied: a thousand VMs of one template hold a thousand pointers to its hardware.

use std::fmt;
use std::sync::Arc;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Deserializer, Serialize};

use super::schema::intern;

/// One value of the API's type `struct`: fields in the order in which they were set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tree {
    fields: Vec<(&'static str, Value)>,
}

/// What a field holds.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Text that the client chose.
    Text(Arc<str>),
    /// A word that the tables know, stored without a copy.
    Word(&'static str),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Decimal(f64),
    /// A flag.
    Boolean(bool),
    /// A nested structure.
    Struct(Arc<Tree>),
    /// The element of an item, and the items.
    List(&'static str, Arc<[Value]>),
}

impl Value {
    /// Text, as a word if the tables have it.
    pub(crate) fn text(text: &str) -> Self {
        intern(text).map_or_else(|| Self::Text(text.into()), Self::Word)
    }

    /// The text of a text or word.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Word(word) => Some(word),
            _ => None,
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Decimal(a), Self::Decimal(b)) => a.to_bits() == b.to_bits(),
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Struct(a), Self::Struct(b)) => a == b,
            (Self::List(_, a), Self::List(_, b)) => a == b,
            _ => self.as_str().is_some() && self.as_str() == other.as_str(),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::text(value)
    }
}

impl From<Tree> for Value {
    fn from(value: Tree) -> Self {
        Self::Struct(Arc::new(value))
    }
}

impl Tree {
    /// An empty structure.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Sets a field, replacing what was there.
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        let value = value.into();
        match self.fields.iter_mut().find(|(field, _)| *field == name) {
            Some((_, old)) => *old = value,
            None => self.fields.push((name, value)),
        }
    }

    /// Sets a field while building.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Takes a field out.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.fields.iter().position(|(field, _)| *field == name)?;
        Some(self.fields.remove(at).1)
    }

    /// The value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    /// Whether a field is set.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The text of a field.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// Sets `kept` to the text of a field, if the field is there.
    pub(crate) fn update(&self, name: &str, kept: &mut Box<str>) {
        if let Some(text) = self.text(name) {
            *kept = text.into();
        }
    }

    /// The number in a field.
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The number with a fraction in a field.
    pub(crate) fn decimal(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Decimal(number) => Some(*number),
            _ => None,
        }
    }

    /// The flag in a field.
    pub(crate) fn bool(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Value::Boolean(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The structure in a field.
    pub(crate) fn sub(&self, name: &str) -> Option<&Tree> {
        match self.get(name)? {
            Value::Struct(tree) => Some(tree),
            _ => None,
        }
    }

    /// The structure at the end of a path of fields.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Tree> {
        path.iter().try_fold(self, |tree, name| tree.sub(name))
    }

    /// The structures of a list; `None` if the list is not there at all, which in an update differs from an empty one.
    pub(crate) fn list(&self, name: &str) -> Option<impl Iterator<Item = &Tree>> {
        match self.get(name)? {
            Value::List(_, items) => Some(items.iter().filter_map(|item| match item {
                Value::Struct(tree) => Some(&**tree),
                _ => None,
            })),
            _ => None,
        }
    }

    /// The texts of a list of texts.
    pub(crate) fn texts(&self, name: &str) -> Option<impl Iterator<Item = &str>> {
        match self.get(name)? {
            Value::List(_, items) => Some(items.iter().filter_map(Value::as_str)),
            _ => None,
        }
    }

    /// The fields in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.fields.iter().map(|(name, value)| (*name, value))
    }

    /// Lays `patch` over this: structures are merged field by field, everything else is replaced.
    pub(crate) fn merge(&mut self, patch: &Tree) {
        for (name, value) in patch.iter() {
            match (self.fields.iter_mut().find(|(field, _)| *field == name), value) {
                (Some((_, Value::Struct(old))), Value::Struct(new)) => Arc::make_mut(old).merge(new),
                (Some((_, old)), new) => *old = new.clone(),
                (None, new) => self.fields.push((name, new.clone())),
            }
        }
    }
}

/// A list in a stored document is an object with this mark before the item's name, to tell it from a structure.
const LIST_MARK: char = '#';

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (name, value) in &self.fields {
            match value {
                Value::List(item, items) => map.serialize_entry(&format!("{LIST_MARK}{item} {name}"), &items[..])?,
                value => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Word(word) => serializer.serialize_str(word),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Decimal(number) => serializer.serialize_f64(*number),
            Self::Boolean(flag) => serializer.serialize_bool(*flag),
            Self::Struct(tree) => tree.serialize(serializer),
            Self::List(..) => Err(serde::ser::Error::custom("a list has no place outside a structure")),
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Tree;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("a stored document")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let known =
                    |name: &str| intern(name).ok_or_else(|| A::Error::custom(format!("unknown element {name}")));
                let mut tree = Tree::new();
                while let Some(key) = map.next_key::<String>()? {
                    match key.strip_prefix(LIST_MARK).and_then(|list| list.split_once(' ')) {
                        Some((item, name)) => {
                            let items = map.next_value::<Vec<Value>>()?;
                            tree.fields.push((known(name)?, Value::List(known(item)?, items.into())));
                        }
                        None => tree.fields.push((known(&key)?, map.next_value()?)),
                    }
                }
                Ok(tree)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("a value of a stored document")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
                Ok(Value::text(text))
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
                Ok(Value::Boolean(flag))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Integer(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
                i64::try_from(number).map(Value::Integer).map_err(E::custom)
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
                Ok(Value::Decimal(number))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
                Tree::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Value::from)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Tree {
        Tree::new()
            .with("memory", 1024)
            .with("priority", Value::Decimal(3.0))
            .with("custom_cpu_model", "anything")
            .with("cpu", Tree::new().with("topology", Tree::new().with("cores", 2).with("sockets", 1)))
            .with("devices", Value::List("device", [Value::text("hd")].into()))
    }

    #[test]
    fn merging_goes_into_structures_and_replaces_the_rest() {
        let mut tree = sample();
        tree.merge(
            &Tree::new()
                .with("cpu", Tree::new().with("topology", Tree::new().with("cores", 8)))
                .with("devices", Value::List("device", [].into())),
        );
        assert_eq!(tree.at(&["cpu", "topology"]).unwrap().int("cores"), Some(8));
        assert_eq!(tree.at(&["cpu", "topology"]).unwrap().int("sockets"), Some(1));
        assert_eq!(tree.texts("devices").unwrap().count(), 0);
        assert_eq!(tree.int("memory"), Some(1024));
    }

    #[test]
    fn a_stored_document_is_restored_as_it_was() {
        let stored = serde_json::to_string(&sample()).unwrap();
        assert_eq!(serde_json::from_str::<Tree>(&stored).unwrap(), sample(), "{stored}");
    }
}
