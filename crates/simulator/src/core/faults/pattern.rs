//! Which paths a rule applies to.

use serde::{Deserialize, Serialize};

/// A path with `*` for any characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathPattern(pub(super) String);

impl PathPattern {
    /// Whether a request's path (and its query, if the pattern has a `?`) is one of these.
    pub fn matches(&self, path: &str, query: &str) -> bool {
        if self.0.contains('?') {
            matches(self.0.as_bytes(), format!("{path}?{query}").as_bytes())
        } else {
            matches(self.0.as_bytes(), path.as_bytes())
        }
    }
}

impl std::fmt::Display for PathPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Matches without recursion: after a mismatch only the last `*` needs to take one more byte.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut last_star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                last_star = Some((p, t));
                p += 1;
            }
            Some(byte) if *byte == text[t] => (p, t) = (p + 1, t + 1),
            _ => match last_star {
                Some((star, taken)) => {
                    last_star = Some((star, taken + 1));
                    (p, t) = (star + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let table = [
            ("*", "/", "", true),
            ("/api/vms", "/api/vms", "", true),
            ("/api/vms", "/api/vms/1", "", false),
            ("/api/vms*", "/api/vms/1/start", "", true),
            ("/api/vms/*/start", "/api/vms/1/start", "", true),
            ("/api/vms/*/start", "/api/vms/1/stop", "", false),
            ("/api/*/nics/*", "/api/vms/1/nics/2", "", true),
            ("/api/vms", "/api/vms", "search=x", true),
            ("/api/vms?search=*", "/api/vms", "search=name", true),
            ("/api/vms?search=*", "/api/vms", "", false),
            ("*a*b*c", "/xaxbxbxc", "", true),
            ("*a*b*c", "/xaxcxb", "", false),
        ];
        for (pattern, path, query, expected) in table {
            assert_eq!(PathPattern(pattern.into()).matches(path, query), expected, "{pattern} {path}?{query}");
        }
    }
}
