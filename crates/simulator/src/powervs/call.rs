//! A request as the cloud reads it: to which of its services it goes, and what is in it.

use bytes::Bytes;
use serde_json::Value;

use super::places;
use super::reply::Refusal;
use crate::core::percent::percent_decode;
use crate::core::{Injection, Request};

/// The services, each behind a prefix of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    Iam,
    ResourceController,
    ResourceManager,
    Catalog,
    Tagging,
    Search,
    Power,
    Vpc,
    Transit,
    Cis,
    Dns,
    Cos,
}

/// The name by which configurations override a service's address, the service, and the path of its base address.
pub(super) const SERVICES: [(&str, Service, &str); 12] = [
    ("IAM", Service::Iam, "/iam"),
    ("ResourceController", Service::ResourceController, "/resource-controller"),
    ("ResourceManager", Service::ResourceManager, "/resource-manager"),
    ("GlobalCatalog", Service::Catalog, "/catalog/api/v1"),
    ("GlobalTagging", Service::Tagging, "/tagging"),
    ("GlobalSearch", Service::Search, "/search"),
    ("Power", Service::Power, "/power"),
    ("VPC", Service::Vpc, "/vpc/v1"),
    ("TransitGateway", Service::Transit, "/transit/v1"),
    ("CIS", Service::Cis, "/cis"),
    ("DNSServices", Service::Dns, "/dns/v1"),
    ("COS", Service::Cos, "/cos"),
];

impl Service {
    /// The service that a path belongs to, and what of the path is left. Without a prefix it is power-iaas, whose own client
    /// takes no address with a path.
    pub(super) fn of(path: &str) -> (Self, &str) {
        // VPC also has an address in each region.
        if let Some((region, rest)) = path.strip_prefix("/vpc/").and_then(|rest| rest.split_once("/v1"))
            && places::vpc_regions().contains(&region)
        {
            return (Self::Vpc, rest);
        }
        for (_, service, base) in SERVICES {
            if let Some(rest) = path.strip_prefix(base)
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return (service, rest);
            }
        }
        if path == "/oauth/token" { (Self::Iam, path) } else { (Self::Power, path) }
    }
}

/// A request.
pub(super) struct Call {
    pub(super) method: String,
    pub(super) service: Service,
    /// The parts of the path below the service's base, decoded.
    pub(super) path: Vec<String>,
    /// Path and query as they were sent, over which signatures are made.
    pub(super) raw_path: String,
    pub(super) raw_query: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    /// The body of services that speak JSON; null if there is none.
    pub(super) json: Value,
    pub(super) injection: Option<Injection>,
    query: Vec<(String, String)>,
}

impl Call {
    pub(super) fn read(request: &Request) -> Result<Self, Refusal> {
        let (service, rest) = Service::of(&request.path);
        let path = rest.split('/').filter(|part| !part.is_empty()).map(percent_decode).collect();
        let parsed = url::form_urlencoded::parse(request.query.as_bytes());
        let speaks_json = !matches!(service, Service::Iam | Service::Cos);
        let json = if speaks_json && !request.body.iter().all(u8::is_ascii_whitespace) {
            serde_json::from_slice(&request.body)
                .map_err(|error| Refusal::new(400, "bad_request", format!("the body is not JSON: {error}")))?
        } else {
            Value::Null
        };
        Ok(Self {
            method: request.method.clone(),
            service,
            path,
            raw_path: request.path.clone(),
            raw_query: request.query.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            json,
            injection: request.injection,
            query: parsed.into_owned().collect(),
        })
    }

    /// A parameter of the query that is not empty.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        let own = self.query.iter().find(|(own, _)| own == name);
        own.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Whether the query names a parameter, with or without a value.
    pub(super) fn has_query(&self, name: &str) -> bool {
        self.query.iter().any(|(own, _)| own == name)
    }

    /// A number in the query, within limits.
    pub(super) fn number(&self, name: &str, usual: usize, most: usize) -> Result<usize, Refusal> {
        let Some(text) = self.query(name) else { return Ok(usual) };
        let number = text.parse::<usize>().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| Refusal::new(400, "bad_field", format!("{name} must be a number from 1 to {most}")))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The token of `Authorization: Bearer`.
    pub(super) fn bearer(&self) -> Option<&str> {
        let (scheme, token) = self.header("authorization")?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token)
    }

    /// A text in the body that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.json.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// A text that must be in the body.
    pub(super) fn need(&self, name: &str) -> Result<&str, Refusal> {
        self.text(name).ok_or_else(|| Refusal::missing(name))
    }

    /// A value in the body that is not null.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.json.get(name).filter(|value| !value.is_null())
    }

    /// A list in the body; unset lists arrive as null.
    pub(super) fn list(&self, name: &str) -> &[Value] {
        self.json.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The region whose address the request was sent to, if it has one.
    pub(super) fn region(&self) -> Option<&'static str> {
        let region = self.raw_path.strip_prefix("/vpc/")?.split('/').next()?;
        places::vpc_regions().into_iter().find(|known| *known == region)
    }

    /// The parts of the path, for matching.
    pub(super) fn parts(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn request(method: &str, path: &str, query: &str, body: &str) -> Request {
        Request {
            listener: 0,
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: Vec::new(),
            body: body.to_owned().into(),
            injection: None,
        }
    }

    #[test]
    fn prefixes_name_services() {
        for (path, service, parts) in [
            ("/iam/identity/token", Service::Iam, "identity token"),
            ("/vpc/v1/vpcs/a", Service::Vpc, "vpcs a"),
            ("/power/pcloud/v1/cloud-instances/a", Service::Power, "pcloud v1 cloud-instances a"),
            ("/v1/datacenters", Service::Power, "v1 datacenters"),
            ("/cis/v1/crn%3Av1%3Aa%2Fb%3A%3A/zones", Service::Cis, "v1 crn:v1:a/b:: zones"),
            ("/vpc/eu-de/v1/vpcs", Service::Vpc, "vpcs"),
            ("/cosy", Service::Power, "cosy"),
            ("/cos/bucket/a%20key", Service::Cos, "bucket a key"),
        ] {
            let call = Call::read(&request("GET", path, "", "")).unwrap();
            assert_eq!((call.service, call.path.join(" ").as_str()), (service, parts), "{path}");
        }
    }

    #[test]
    fn unset_lists_are_null() {
        let call = Call::read(&request("POST", "/vpc/v1/x", "a=1&b", r#"{"list":null,"text":"","n":1}"#)).unwrap();
        assert!(call.list("list").is_empty() && call.text("text").is_none() && call.value("list").is_none());
        assert_eq!((call.query("a"), call.query("b"), call.has_query("b")), (Some("1"), None, true));
        assert!(call.need("text").is_err() && call.number("a", 5, 10).is_ok());
        assert!(Call::read(&request("POST", "/vpc/v1/x", "", "{")).is_err());
    }
}
