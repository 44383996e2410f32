//! How often each kind of call was made.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many kinds of call are told apart; a client that makes up paths must not fill the memory.
const MAX_KINDS: usize = 10_000;

/// Calls counted by method and path template.
#[derive(Debug, Default)]
pub(super) struct RequestCounts(Mutex<BTreeMap<String, u64>>);

impl RequestCounts {
    pub(super) fn count(&self, method: &str, path: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = format!("{method} {}", template(path));
        if counts.len() < MAX_KINDS || counts.contains_key(&kind) {
            *counts.entry(kind).or_default() += 1;
        } else {
            *counts.entry("other".to_owned()).or_default() += 1;
        }
    }

    /// All counts, by `METHOD /path/{id}`.
    pub(super) fn all(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn reset(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A path with whatever looks like an id replaced by `{id}`.
fn template(path: &str) -> String {
    path.split('/').map(|segment| if is_id(segment) { "{id}" } else { segment }).collect::<Vec<_>>().join("/")
}

/// UUIDs, numbers and long hexadecimal strings.
fn is_id(segment: &str) -> bool {
    let is_number = !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
    let is_hex = segment.len() >= 16 && segment.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_number || is_hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_templates() {
        let table = [
            ("/api/vms", "/api/vms"),
            ("/api/vms/0d3a8b9e-6f0e-4b61-9a55-3f1f8f0f4b11/nics/17", "/api/vms/{id}/nics/{id}"),
            ("/v4/datacenters", "/v4/datacenters"),
            ("/", "/"),
        ];
        for (path, expected) in table {
            assert_eq!(template(path), expected);
        }
    }

    #[test]
    fn made_up_paths_do_not_fill_the_memory() {
        let counts = RequestCounts::default();
        for number in 0..MAX_KINDS + 5 {
            counts.count("GET", &format!("/x{number}"));
        }
        let all = counts.all();
        assert_eq!((all.len(), all["other"]), (MAX_KINDS + 1, 5));
    }
}
