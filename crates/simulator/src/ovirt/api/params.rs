//! The parameters of a request: from the query, and from the path, where they may stand after a semicolon.

use url::form_urlencoded;

/// Parameters in the order given; the first of a name counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Reads a query.
    pub(crate) fn from_query(query: &str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// Adds a parameter that stood elsewhere than in the query.
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// The value of a parameter, which may be empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// A flag: given without a value it is true; a value that is no flag is ignored, as the engine does.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)?.to_ascii_lowercase().as_str() {
            "" | "t" | "true" | "y" | "yes" | "1" => Some(true),
            "f" | "false" | "n" | "no" | "0" => Some(false),
            _ => None,
        }
    }

    /// A number; what is none is ignored, as the engine does.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.trim().parse().ok()
    }
}

/// Splits a path into its decoded parts, and moves `;name=value` parameters to `params`.
///
/// Empty parts are dropped: the engine takes `/api/` and `/api` for the same.
pub(crate) fn split_path(path: &str, params: &mut Params) -> Vec<String> {
    let mut parts = Vec::new();
    for raw in path.split('/') {
        let mut pieces = raw.split(';');
        if let Some(part) = pieces.next().filter(|part| !part.is_empty()) {
            parts.push(percent_decode(part));
        }
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
            params.push(&percent_decode(name), &percent_decode(value));
        }
    }
    parts
}

/// Decodes `%20` and the like; what is not UTF-8 afterwards becomes replacement characters, which no name contains.
fn percent_decode(text: &str) -> String {
    // A plus sign is a blank in a query, but itself in a path.
    let protected = text.replace('+', "%2B");
    form_urlencoded::parse(protected.as_bytes())
        .next()
        .map(|(name, value)| if value.is_empty() { name.into_owned() } else { format!("{name}={value}") })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_may_be_words_letters_digits_or_nothing() {
        let params = Params::from_query("a&b=true&c=n&d=0&e=Yes&f=maybe");
        let flags = ["a", "b", "c", "d", "e", "f", "g"].map(|name| params.flag(name));
        assert_eq!(flags, [Some(true), Some(true), Some(false), Some(false), Some(true), None, None]);
    }

    #[test]
    fn a_path_may_carry_parameters() {
        let mut params = Params::from_query("max=3");
        let parts = split_path("/vms;search=name%3Da%20b;case_sensitive/x%2Fy+z/", &mut params);
        assert_eq!(parts, ["vms", "x/y+z"]);
        assert_eq!(params.get("search"), Some("name=a b"));
        assert_eq!(params.flag("case_sensitive"), Some(true));
        assert_eq!(params.number("max"), Some(3));
    }
}
