//! Old and foreign spellings, brought into today's form before anything else is judged.
//!
//! Files of the reference installer are common, so its older field names are accepted with a notice, and fields that only
//! it has are answered with what to do instead.

mod networking;
mod ovirt;
mod reference;

use serde_json::{Map, Value};

use crate::{Notice, Problem, path};

/// Rewrites a tree in place.
pub(crate) fn normalize(tree: &mut Value) -> (Vec<Problem>, Vec<Notice>) {
    let mut findings = Findings::default();
    drop_nulls(tree);
    if let Value::Object(root) = tree {
        reference::normalize(root, &mut findings);
        if let Some(Value::Object(networking)) = root.get_mut("networking") {
            networking::normalize(networking, &mut findings);
        }
        ovirt::normalize(root, &mut findings);
    }
    (findings.problems, findings.notices)
}

#[derive(Default)]
struct Findings {
    problems: Vec<Problem>,
    notices: Vec<Notice>,
}

impl Findings {
    fn notice(&mut self, path: &str, message: impl Into<String>) {
        self.notices.push(Notice::new(path, message));
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Moves a value from an old name to today's, in a form made for it. If both are there they have to agree.
    fn rename(
        &mut self,
        map: &mut Map<String, Value>,
        parent: &str,
        (old, new): (&str, &str),
        convert: impl FnOnce(Value) -> Value,
    ) {
        let Some(value) = map.shift_remove(old) else { return };
        let (old_path, new_path) = (path::key(parent, old), path::key(parent, new));
        let value = convert(value);
        match map.get(new) {
            Some(given) if *given != value => self.problem(
                Problem::new(&old_path, format!("disagrees with {new_path}"))
                    .suggest(format!("'{old}' is the old spelling of '{new}': keep only the latter")),
            ),
            Some(_) => self.notice(&old_path, format!("says the same as '{new}' and can be left out")),
            None => {
                self.notice(&old_path, format!("is the old spelling of '{new}'"));
                map.insert(new.to_owned(), value);
            }
        }
    }

    /// Makes a list of a single value that stands in the place of one.
    fn single_to_list(&mut self, map: &mut Map<String, Value>, parent: &str, name: &str) {
        if let Some(value @ Value::String(_)) = map.get_mut(name) {
            *value = Value::Array(vec![value.take()]);
            self.notice(&path::key(parent, name), "is a list; the single value is taken as its only item");
        }
    }
}

/// A key without a value means the same as no key.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
