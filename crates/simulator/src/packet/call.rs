//! A request as the API reads it: parameters may be in the body or in the query, whatever the verb.

use serde_json::{Map, Value};

use super::reply::Refusal;
use crate::core::percent::percent_decode;
use crate::core::{Injection, Request};

/// The base path of the later era.
pub(super) const BASE: &str = "/metal/v1";

/// A request.
pub(super) struct Call {
    pub(super) method: String,
    /// The parts of the path, without a base.
    pub(super) path: Vec<String>,
    /// The base that the request used, which the hrefs in its answer carry.
    pub(super) base: &'static str,
    pub(super) token: Option<String>,
    pub(super) injection: Option<Injection>,
    params: Map<String, Value>,
}

impl Call {
    pub(super) fn read(request: &Request) -> Result<Self, Refusal> {
        let decode = |part: &str| percent_decode(part);
        let mut path: Vec<String> = request.path.split('/').filter(|part| !part.is_empty()).map(decode).collect();
        let mut base = "";
        // One client pastes hrefs, which carry the base, after its own base.
        while path.len() >= 2 && path[0] == "metal" && path[1] == "v1" {
            path.drain(..2);
            base = BASE;
        }
        let mut params = Map::new();
        for (name, value) in url::form_urlencoded::parse(request.query.as_bytes()) {
            match name.strip_suffix("[]") {
                Some(list) => {
                    let list = params.entry(list.to_owned()).or_insert_with(|| Value::Array(Vec::new()));
                    if let Value::Array(items) = list {
                        items.push(Value::String(value.into_owned()));
                    }
                }
                None => drop(params.insert(name.into_owned(), Value::String(value.into_owned()))),
            }
        }
        if !request.body.iter().all(u8::is_ascii_whitespace) {
            match serde_json::from_slice(&request.body) {
                Ok(Value::Object(body)) => params.extend(body),
                Ok(Value::Null) => {}
                Ok(_) | Err(_) => return Err(Refusal::new(400, "The request body is not a JSON object")),
            }
        }
        let token = request.headers.iter().find(|(name, _)| name == "x-auth-token").map(|(_, value)| value.clone());
        Ok(Self { method: request.method.clone(), path, base, token, injection: request.injection, params })
    }

    /// A parameter that is there and not null.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.params.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        let value = self.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    }

    pub(super) fn decimal(&self, name: &str) -> Option<f64> {
        let value = self.get(name)?;
        value.as_f64().or_else(|| value.as_str()?.parse().ok())
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => Some(matches!(text.as_str(), "true" | "1")),
            Value::Number(number) => Some(number.as_u64() == Some(1)),
            _ => None,
        }
    }

    /// A list of texts; a single text is a list of one, and an empty object, which one client sends, is an empty list.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<String>> {
        match self.get(name)? {
            Value::Array(items) => Some(items.iter().filter_map(|item| Some(item.as_str()?.to_owned())).collect()),
            Value::String(text) => Some(text.split(',').map(|part| part.trim().to_owned()).collect()),
            Value::Object(object) if object.is_empty() => Some(Vec::new()),
            _ => None,
        }
    }

    /// The parameters as they are, for calls within calls.
    pub(super) fn with_params(&self, params: Map<String, Value>) -> Self {
        Self {
            method: self.method.clone(),
            path: self.path.clone(),
            base: self.base,
            token: self.token.clone(),
            injection: self.injection,
            params,
        }
    }

    /// Whether the request only reads.
    pub(super) fn is_safe(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &str, path: &str, query: &str, body: &str) -> Call {
        let request = Request {
            listener: 0,
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: Vec::new(),
            body: body.to_owned().into(),
            injection: None,
        };
        Call::read(&request).unwrap()
    }

    #[test]
    fn bases_and_slashes_are_forgiven() {
        for (path, base) in [
            ("/projects/a/ips", ""),
            ("//projects/a//ips", ""),
            ("/metal/v1/projects/a/ips", BASE),
            ("/metal/v1/metal/v1/projects/a/ips", BASE),
        ] {
            let call = read("GET", path, "", "");
            assert_eq!((call.path.join("/").as_str(), call.base), ("projects/a/ips", base), "{path}");
        }
    }

    #[test]
    fn parameters_are_in_the_query_or_in_the_body() {
        let call =
            read("POST", "/a", "type=reboot&categories[]=x&categories[]=y", r#"{"tags":{},"n":"3","gone":null}"#);
        assert_eq!((call.text("type"), call.number("n"), call.get("gone")), (Some("reboot"), Some(3), None));
        assert_eq!(call.texts("categories").unwrap(), ["x", "y"]);
        assert_eq!(call.texts("tags").unwrap(), Vec::<String>::new());
        assert_eq!(read("GET", "/a%2Fb", "", "").path, ["a/b"]);
    }
}
