//! Single values: numbers, words, and values of another type than is wanted.

use serde_json::Value;

use crate::{
    Problem,
    schema::{Kind, Node},
    spelling,
};

pub(super) fn check_number(
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

pub(super) fn check_word(word: &str, words: &[(&'static str, Node)], path: &str) -> Option<Problem> {
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

pub(super) fn wrong_type(node: Node, found: &Value, path: &str) -> Problem {
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
        (Kind::Number, Value::String(text)) if text.parse::<f64>().is_ok() => {
            ("a number", Some("write it without quotes".to_owned()))
        }
        (Kind::Number, _) => ("a number", None),
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

fn either(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => format!("'{only}'"),
        [first @ .., last] => format!("'{}' or '{last}'", first.join("', '")),
    }
}
