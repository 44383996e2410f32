//! Comparing a tree with the schema: every unknown key, wrong type, wrong word and missing field, not only the first.
//!
//! What is wrong is replaced by something well-formed, so that the tree can be made into types afterwards and the rules
//! about the rest of the file can be judged in the same run. The places that were touched are *doubtful*: what is found
//! there later is a consequence of the repair, not of what the user wrote.

mod repair;
mod values;

use std::mem;

use serde_json::{Map, Value};

pub(crate) use repair::Doubtful;
use repair::placeholder;
use values::{check_number, check_word, wrong_type};

use crate::{
    Problem, format, path,
    report::Report,
    schema::{Kind, Node},
    spelling,
};

/// Compares a tree with the schema and repairs it.
pub(crate) fn walk(tree: &mut Value, report: &mut Report) -> Doubtful {
    let mut walk = Walk { report, doubtful: Doubtful::default() };
    if tree.is_null() {
        walk.report.problem(Problem::new("", "is empty").suggest("'landfall create install-config' makes one"));
        walk.doubtful.insert(String::new());
        *tree = placeholder(Node::root(), None);
    }
    walk.check(Node::root(), tree, "");
    walk.doubtful
}

struct Walk<'a> {
    report: &'a mut Report,
    doubtful: Doubtful,
}

impl Walk<'_> {
    fn check(&mut self, node: Node, value: &mut Value, path: &str) {
        let problem = match (node.kind(), &mut *value) {
            (Kind::Text { non_empty: true, .. }, Value::String(text)) if text.is_empty() => {
                Some(Problem::new(path, "must not be empty"))
            }
            (Kind::Text { format: Some(format), .. }, Value::String(text)) => format::check(format, text, path),
            (Kind::Boolean, Value::Bool(_))
            | (Kind::Text { .. }, Value::String(_))
            | (Kind::Number, Value::Number(_)) => None,
            (Kind::Integer { minimum, maximum, allowed }, Value::Number(number)) => {
                check_number(number, minimum, maximum, allowed.as_deref(), path)
            }
            (Kind::Enumeration(words), Value::String(word)) => check_word(word, &words, path),
            (Kind::List(item), Value::Array(items)) => {
                for (i, value) in items.iter_mut().enumerate() {
                    self.check(item, value, &path::index(path, i));
                }
                None
            }
            (Kind::Map { keys, values }, Value::Object(map)) => {
                self.check_map(keys.as_deref(), values, map, path);
                None
            }
            (Kind::Object { fields, required }, Value::Object(map)) => {
                self.check_object(&fields, &required, map, path);
                None
            }
            (Kind::Choice(choices), Value::Object(map)) => self.check_choice(&choices, map, path),
            (_, value) => Some(wrong_type(node, value, path)),
        };
        if let Some(mut problem) = problem {
            // A file that is not a mapping is some other file, perhaps one with a secret in it.
            if node.is_secret() || path.is_empty() {
                problem.value = None;
            }
            *value = placeholder(node, Some(value));
            self.report.problem(problem);
            self.doubtful.insert(path.to_owned());
        }
    }

    fn check_map(&mut self, keys: Option<&[&str]>, values: Node, map: &mut Map<String, Value>, path: &str) {
        for (key, mut value) in mem::take(map) {
            match keys {
                Some(keys) if !keys.contains(&key.as_str()) => self.unknown_key(&key, keys, path),
                _ => {
                    self.check(values, &mut value, &path::key(path, &key));
                    map.insert(key, value);
                }
            }
        }
    }

    fn check_object(&mut self, fields: &[(&str, Node)], required: &[&str], map: &mut Map<String, Value>, path: &str) {
        let absent: Vec<&str> = fields.iter().map(|(name, _)| *name).filter(|name| !map.contains_key(*name)).collect();
        for (key, mut value) in mem::take(map) {
            match fields.iter().find(|(name, _)| *name == key) {
                Some((_, field)) => {
                    self.check(*field, &mut value, &path::key(path, &key));
                    map.insert(key, value);
                }
                None => self.unknown_key(&key, &absent, path),
            }
        }
        for (name, field) in fields.iter().filter(|(name, _)| required.contains(name) && absent.contains(name)) {
            map.insert((*name).to_owned(), placeholder(*field, None));
            let path = path::key(path, name);
            // A misspelt field was reported with this name as the suggestion; saying that it is missing adds nothing.
            if !self.doubtful.contains(&path) {
                self.report.problem(Problem::new(&path, "is missing").suggest(field.doc().replace('\n', " ")));
                self.doubtful.insert(path);
            }
        }
    }

    /// Exactly one key; what is wrong below it is reported too.
    fn check_choice(&mut self, choices: &[(&str, Node)], map: &mut Map<String, Value>, path: &str) -> Option<Problem> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let all = names.join(", ");
        let given: Vec<String> = map.keys().cloned().collect();
        match given.as_slice() {
            [] => Some(Problem::new(path, format!("must name one of: {all}"))),
            [key] => {
                if let Some((_, node)) = choices.iter().find(|(name, _)| name == key) {
                    self.check(*node, &mut map[key], &path::key(path, key));
                    return None;
                }
                let problem = Problem::new(path::key(path, key), format!("is not known; there is: {all}"));
                Some(match spelling::closest(key, names) {
                    Some(meant) => problem.suggest(format!("did you mean '{meant}'?")),
                    None => problem,
                })
            }
            several => Some(Problem::new(path, format!("must name exactly one of: {all}")).value(several.join(", "))),
        }
    }

    /// A key that is not among the known ones; those that are not given themselves may have been meant.
    fn unknown_key(&mut self, key: &str, absent: &[&str], path: &str) {
        let full = path::key(path, key);
        let mut meant = None;
        self.report.problem_with(|| {
            meant = spelling::closest(key, absent.iter().copied());
            let problem = Problem::new(&full, "is not a known field");
            match (meant, elsewhere(key)) {
                (Some(name), _) => problem.suggest(format!("did you mean '{name}'?")),
                (None, Some(place)) if place == key => {
                    problem.suggest(format!("did you mean '{place}' at the top level?"))
                }
                (None, Some(place)) => problem.suggest(format!("did you mean '{place}'?")),
                (None, None) if absent.is_empty() => problem,
                (None, None) => problem.suggest(format!("there is also: {}", absent.join(", "))),
            }
        });
        self.doubtful.insert(full);
        if let Some(name) = meant {
            self.doubtful.insert(path::key(path, name));
        }
    }
}

/// Where else a field of this name is, if there is exactly one such place.
fn elsewhere(name: &str) -> Option<String> {
    let mut places = Vec::new();
    collect(Node::root(), "", name, &mut places);
    match places.as_slice() {
        [place] => Some(place.clone()),
        _ => None,
    }
}

fn collect(node: Node, at: &str, name: &str, places: &mut Vec<String>) {
    match node.kind() {
        Kind::Object { fields, .. } | Kind::Choice(fields) => {
            for (field, node) in fields {
                let path = path::key(at, field);
                if field == name {
                    places.push(path.clone());
                }
                collect(node, &path, name, places);
            }
        }
        Kind::List(item) => collect(item, &format!("{at}[]"), name, places),
        _ => {}
    }
}
