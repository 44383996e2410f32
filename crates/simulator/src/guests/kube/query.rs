//! What a client adds to a request for a collection: which objects, and whether to go on watching.

use serde_json::Value;
use url::form_urlencoded;

use super::status::Problem;

/// The parameters of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) watch: bool,
    /// Where to begin watching; empty or `0` for the present.
    pub(super) resource_version: String,
    labels: Vec<Requirement>,
    fields: Vec<Requirement>,
}

/// What a label or a field must be.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    name: String,
    equals: bool,
    /// `None` if it only matters whether it is there.
    value: Option<String>,
}

impl Query {
    pub(super) fn parse(query: &str) -> Result<Self, Problem> {
        let mut parsed = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match name.as_ref() {
                "watch" => parsed.watch = matches!(value.as_ref(), "true" | "1"),
                "resourceVersion" => parsed.resource_version = value.into_owned(),
                "labelSelector" => parsed.labels = requirements(&value)?,
                "fieldSelector" => parsed.fields = requirements(&value)?,
                // Everything else changes nothing here: limits, time-outs, field managers.
                _ => {}
            }
        }
        Ok(parsed)
    }

    /// Whether an object is asked for.
    pub(super) fn selects(&self, object: &Value) -> bool {
        let label = |name: &str| object.get("metadata")?.get("labels")?.get(name)?.as_str();
        let field = |name: &str| object.pointer(&format!("/{}", name.replace('.', "/")))?.as_str();
        self.labels.iter().all(|requirement| requirement.holds(label(&requirement.name)))
            && self.fields.iter().all(|requirement| requirement.holds(field(&requirement.name)))
    }
}

impl Requirement {
    fn holds(&self, found: Option<&str>) -> bool {
        match &self.value {
            None => found.is_some() == self.equals,
            Some(value) => (found == Some(value)) == self.equals,
        }
    }
}

/// Reads `a=b,c==d,e!=f,g,!h`.
fn requirements(selector: &str) -> Result<Vec<Requirement>, Problem> {
    if selector.contains(['(', ')']) {
        return Err(Problem::bad_request("selectors with sets are not served here"));
    }
    let parts = selector.split(',').map(str::trim).filter(|part| !part.is_empty());
    let read = |part: &str| {
        let (name, equals, value) = if let Some((name, value)) = part.split_once("!=") {
            (name, false, Some(value))
        } else if let Some((name, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
            (name, true, Some(value))
        } else if let Some(name) = part.strip_prefix('!') {
            (name, false, None)
        } else {
            (part, true, None)
        };
        Requirement { name: name.trim().to_owned(), equals, value: value.map(|value| value.trim().to_owned()) }
    };
    Ok(parts.map(read).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors() {
        let node = json!({ "metadata": { "name": "n", "labels": { "role": "master", "zone": "" } } });
        for (query, expected) in [
            ("", true),
            ("labelSelector=role%3Dmaster", true),
            ("labelSelector=role==master,zone", true),
            ("labelSelector=role!%3Dmaster", false),
            ("labelSelector=other!%3Dmaster", true),
            ("labelSelector=!zone", false),
            ("fieldSelector=metadata.name%3Dn", true),
            ("fieldSelector=metadata.name%3Dm", false),
        ] {
            assert_eq!(Query::parse(query).unwrap().selects(&node), expected, "{query}");
        }
        assert_eq!(Query::parse("labelSelector=a+in+(b)").unwrap_err().code, 400);
    }
}
