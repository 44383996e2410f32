//! Comparing a tree with the schema: every unknown key, wrong type, wrong word and missing field, not only the first.
//!
//! What is wrong is replaced by something well-formed, so that the tree can be made into types afterwards and the rules
//! about the rest of the file can be judged in the same run. The places that were touched are *doubtful*: what is found
//! there later is a consequence of the repair, not of what the user wrote.

use serde_json::{Map, Value};

use crate::{
    Problem, format, path,
    schema::{Kind, Node},
    spelling,
};

/// What a walk found.
#[derive(Default)]
pub(crate) struct Walk {
    /// All problems in the order of the file.
    pub(crate) problems: Vec<Problem>,
    /// Paths of what was replaced, added or taken out.
    pub(crate) doubtful: Vec<String>,
}

/// Compares a tree with the schema and repairs it.
pub(crate) fn walk(tree: &mut Value) -> Walk {
    let mut walk = Walk::default();
    if tree.is_null() {
        walk.problems.push(Problem::new("", "is empty").suggest("'landfall create install-config' makes one"));
        walk.doubtful.push(String::new());
        *tree = placeholder(Node::root(), None);
    }
    walk.check(Node::root(), tree, "");
    walk
}

impl Walk {
    fn check(&mut self, node: Node, value: &mut Value, path: &str) {
        let problem = match (node.kind(), &mut *value) {
            (Kind::Text { non_empty: true, .. }, Value::String(text)) if text.is_empty() => {
                Some(Problem::new(path, "must not be empty"))
            }
            (Kind::Text { format: Some(format), .. }, Value::String(text)) => format::check(format, text, path),
            (Kind::Boolean, Value::Bool(_)) | (Kind::Text { .. }, Value::String(_)) => None,
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
            self.problems.push(problem);
            self.doubtful.push(path.to_owned());
        }
    }

    fn check_map(&mut self, keys: Option<&[&str]>, values: Node, map: &mut Map<String, Value>, path: &str) {
        if let Some(keys) = keys {
            let unknown: Vec<String> = map.keys().filter(|key| !keys.contains(&key.as_str())).cloned().collect();
            for key in unknown {
                self.unknown_key(&key, keys, map, path);
            }
        }
        for (key, value) in map.iter_mut() {
            self.check(values, value, &path::key(path, key));
        }
    }

    fn check_object(&mut self, fields: &[(&str, Node)], required: &[&str], map: &mut Map<String, Value>, path: &str) {
        let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        let keys: Vec<String> = map.keys().cloned().collect();
        for key in keys {
            match fields.iter().find(|(name, _)| *name == key) {
                Some((_, field)) => {
                    if let Some(value) = map.get_mut(&key) {
                        self.check(*field, value, &path::key(path, &key));
                    }
                }
                None => self.unknown_key(&key, &names, map, path),
            }
        }
        for (name, field) in fields.iter().filter(|(name, _)| required.contains(name)) {
            if !map.contains_key(*name) {
                let path = path::key(path, name);
                // A misspelt field was reported with this name as the suggestion; saying that it is missing adds nothing.
                if !self.doubtful.contains(&path) {
                    self.problems.push(Problem::new(&path, "is missing").suggest(one_line(field.doc())));
                    self.doubtful.push(path);
                }
                map.insert((*name).to_owned(), placeholder(*field, None));
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

    fn unknown_key(&mut self, key: &str, names: &[&str], map: &mut Map<String, Value>, path: &str) {
        let full = path::key(path, key);
        let meant = spelling::closest(key, names.iter().copied().filter(|name| !map.contains_key(*name)));
        let problem = Problem::new(&full, "is not a known field");
        self.problems.push(match (meant, elsewhere(key)) {
            (Some(name), _) => problem.suggest(format!("did you mean '{name}'?")),
            (None, Some(place)) if place == key => problem.suggest(format!("did you mean '{place}' at the top level?")),
            (None, Some(place)) => problem.suggest(format!("did you mean '{place}'?")),
            (None, None) => problem.suggest(format!("known here: {}", names.join(", "))),
        });
        self.doubtful.push(full);
        self.doubtful.extend(meant.map(|name| path::key(path, name)));
        map.shift_remove(key);
    }
}

fn check_number(
    number: &serde_json::Number,
    minimum: u64,
    maximum: u64,
    allowed: Option<&[u64]>,
    path: &str,
) -> Option<Problem> {
    if let Some(allowed) = allowed {
        let fits = number.as_u64().is_some_and(|n| allowed.contains(&n));
        let values: Vec<String> = allowed.iter().map(u64::to_string).collect();
        return (!fits).then(|| Problem::new(path, format!("must be {}", values.join(" or "))).value(number));
    }
    let fits = number.as_u64().is_some_and(|n| (minimum..=maximum).contains(&n));
    (!fits).then(|| {
        let range = if maximum == u64::from(u32::MAX) {
            format!("of {minimum} or more")
        } else {
            format!("from {minimum} to {maximum}")
        };
        Problem::new(path, format!("must be a whole number {range}")).value(number)
    })
}

fn check_word(word: &str, words: &[(&'static str, Node)], path: &str) -> Option<Problem> {
    if words.iter().any(|(known, _)| *known == word) {
        return None;
    }
    let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
    let problem = Problem::new(path, format!("must be {}", either(&known))).value(word);
    Some(match spelling::closest(word, known) {
        Some(meant) => problem.suggest(format!("did you mean '{meant}'?")),
        None => problem,
    })
}

fn wrong_type(node: Node, found: &Value, path: &str) -> Problem {
    let (found_kind, shown) = match found {
        Value::Null => ("nothing", None),
        Value::Bool(value) => ("a truth value", Some(value.to_string())),
        Value::Number(value) => ("a number", Some(value.to_string())),
        Value::String(value) => ("text", Some(value.clone())),
        Value::Array(_) => ("a list", None),
        Value::Object(_) => ("a mapping", None),
    };
    let (wanted, suggestion) = match (node.kind(), found) {
        (Kind::Text { .. }, Value::Number(_) | Value::Bool(_)) => ("text", Some("write it in quotes".to_owned())),
        (Kind::Text { .. }, Value::Object(_)) if node.is_secret() => {
            ("text", Some("write the JSON in single quotes".to_owned()))
        }
        (Kind::Text { .. }, _) => ("text", None),
        (Kind::Integer { .. }, Value::String(text)) if text.parse::<u32>().is_ok() => {
            ("a whole number", Some("write it without quotes".to_owned()))
        }
        (Kind::Integer { .. }, _) => ("a whole number", None),
        (Kind::Boolean, _) => ("true or false", None),
        (Kind::Enumeration(words), _) => {
            let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
            return Problem::new(path, format!("must be {}, not {found_kind}", either(&known)));
        }
        (Kind::List(_), Value::Null) => ("a list", None),
        (Kind::List(_), _) => ("a list", Some("write each item on a line of its own that begins with '- '".to_owned())),
        (Kind::Object { .. } | Kind::Map { .. } | Kind::Choice(_), _) => {
            ("a mapping", Some("write it as indented lines 'key: value'".to_owned()))
        }
    };
    let mut problem = Problem::new(path, format!("must be {wanted}, not {found_kind}"));
    problem.value = shown;
    problem.suggestion = suggestion;
    problem
}

/// Something well-formed in the place of something wrong: what was most likely meant, or just anything.
fn placeholder(node: Node, wrong: Option<&Value>) -> Value {
    if let Some(default) = node.default() {
        return default.clone();
    }
    match node.kind() {
        Kind::Text { format, .. } => format::placeholder(format).into(),
        Kind::Integer { minimum, allowed, .. } => allowed.and_then(|a| a.first().copied()).unwrap_or(minimum).into(),
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

fn either(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => format!("'{only}'"),
        [first @ .., last] => format!("'{}' or '{last}'", first.join("', '")),
    }
}

fn one_line(doc: &str) -> String {
    doc.replace('\n', " ")
}
