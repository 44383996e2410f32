//! Going on after something wrong.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::{
    format,
    schema::{Kind, Node},
    spelling,
};

/// Paths of what was replaced, added or taken out.
#[derive(Default)]
pub(crate) struct Doubtful(BTreeSet<String>);

impl Doubtful {
    pub(super) fn insert(&mut self, path: String) {
        self.0.insert(path);
    }

    /// Whether a path was touched itself.
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.0.contains(path)
    }

    /// Whether a path was touched, or something that it is part of, or a part of it.
    pub(crate) fn concerns(&self, path: &str) -> bool {
        let ancestors = path.match_indices(['.', '[']).map(|(at, _)| &path[..at]);
        let mut ancestors = ["", path].into_iter().chain(ancestors);
        ancestors.any(|ancestor| self.contains(ancestor))
            || ['.', '['].iter().any(|separator| {
                let prefix = format!("{path}{separator}");
                self.0.range(prefix.clone()..).next().is_some_and(|next| next.starts_with(&prefix))
            })
    }
}

/// Something well-formed in the place of something wrong: what was most likely meant, or just anything.
pub(super) fn placeholder(node: Node, wrong: Option<&Value>) -> Value {
    if let Some(default) = node.default() {
        return default.clone();
    }
    match node.kind() {
        Kind::Text { format, .. } => format::placeholder(format).into(),
        Kind::Integer { minimum, allowed, .. } => allowed.and_then(|a| a.first().copied()).unwrap_or(minimum).into(),
        Kind::Number => 1.into(),
        Kind::Boolean => false.into(),
        Kind::Enumeration(words) => {
            let known = words.iter().map(|(word, _)| *word);
            wrong
                .and_then(Value::as_str)
                .and_then(|wrong| spelling::closest(wrong, known.clone()))
                .or_else(|| known.clone().next())
                .into()
        }
        Kind::List(_) => Value::Array(Vec::new()),
        Kind::Map { .. } => Value::Object(Map::new()),
        Kind::Object { fields, required } => fields
            .into_iter()
            .filter(|(name, _)| required.contains(name))
            .map(|(name, field)| (name.to_owned(), placeholder(field, None)))
            .collect::<Map<_, _>>()
            .into(),
        Kind::Choice(choices) => choices
            .into_iter()
            .take(1)
            .map(|(name, node)| (name.to_owned(), placeholder(node, None)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concerns_ancestors_and_parts() {
        let mut doubtful = Doubtful::default();
        doubtful.insert("compute[0].platform".to_owned());
        doubtful.insert("networking.machineNetwork".to_owned());
        for path in
            ["compute", "compute[0]", "compute[0].platform.ovirt", "networking", "networking.machineNetwork[0].cidr"]
        {
            assert!(doubtful.concerns(path), "{path}");
        }
        for path in ["compute[1]", "compute[0].name", "net", "networking.machineNetworks", "platform"] {
            assert!(!doubtful.concerns(path), "{path}");
        }
    }
}
