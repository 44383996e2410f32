//! The calls of the API that are needed here.

use std::time::Duration;

use jiff::Timestamp;
use landfall_platform::{Environment, ErrorClass};
use landfall_wire::{
    Client, Limits, Method, Reply, Request, Trust,
    aws::{self, Call, Credentials, Scope},
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::document::{Action, HostedZone, WireSet, bare_id, change_request, unescaped};
use crate::{Error, Name, RecordSet};

const ENDPOINT: &str = "https://route53.amazonaws.com";
/// Route 53 is one service for the whole world, and its signatures name this region.
const SCOPE: Scope<'static> = Scope { region: "us-east-1", service: "route53" };
const VERSION: &str = "2013-04-01";
/// A batch usually reaches all name servers within a minute.
const SYNC_INTERVAL: Duration = Duration::from_secs(2);
/// What the API gives at most.
const PAGE: &str = "300";

/// The API.
pub(super) struct Api {
    client: Client,
    endpoint: Url,
    credentials: Credentials,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ZonesByName {
    #[serde(default)]
    hosted_zones: Listed<ListedZone>,
}

#[derive(Deserialize)]
struct Listed<T> {
    #[serde(rename = "HostedZone", default = "Vec::new")]
    zones: Vec<T>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { zones: Vec::new() }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ListedZone {
    id: String,
    name: String,
    #[serde(default)]
    config: ZoneConfig,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ZoneConfig {
    #[serde(default)]
    private_zone: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GetZone {
    hosted_zone: ListedZone,
    #[serde(default)]
    delegation_set: Option<DelegationSet>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DelegationSet {
    name_servers: NameServers,
}

#[derive(Deserialize)]
struct NameServers {
    #[serde(rename = "NameServer", default)]
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RecordSets {
    #[serde(default, rename = "ResourceRecordSets")]
    listed: WireSets,
    is_truncated: bool,
    next_record_name: Option<String>,
    next_record_type: Option<String>,
    next_record_identifier: Option<String>,
}

#[derive(Default, Deserialize)]
struct WireSets {
    #[serde(rename = "ResourceRecordSet", default)]
    sets: Vec<WireSet>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Changed {
    change_info: ChangeInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ChangeInfo {
    id: String,
    status: String,
}

/// The two shapes of errors.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ErrorResponse {
    #[serde(default)]
    error: Option<ErrorBody>,
    #[serde(default)]
    messages: Option<Messages>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ErrorBody {
    code: String,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Messages {
    #[serde(rename = "Message", default)]
    messages: Vec<String>,
}

impl Api {
    pub(super) fn new(endpoint: Option<&Url>, environment: &Environment) -> Result<Self, Error> {
        let named = environment.get("AWS_ENDPOINT_URL_ROUTE_53").or(environment.get("AWS_ENDPOINT_URL"));
        let named = named.and_then(|url| url.to_str()).and_then(|url| Url::parse(url).ok());
        let own = || Url::parse(ENDPOINT).expect("the endpoint is a URL");
        let endpoint = endpoint.cloned().or(named).unwrap_or_else(own);
        let client = Client::new(&Trust::System, Limits::default()).map_err(|source| Error::Http {
            attempt: "preparing to talk".to_owned(),
            service: "Route 53".to_owned(),
            source: Box::new(source),
        })?;
        let credentials = Credentials::find(environment);
        let credentials = credentials.map_err(|error| Error::NoCredentials { reason: error.to_string() })?;
        Ok(Self { client, endpoint, credentials })
    }

    pub(super) fn service(&self) -> String {
        match self.endpoint.as_str().trim_end_matches('/') {
            ENDPOINT => "Route 53".to_owned(),
            other => format!("Route 53 ({other})"),
        }
    }

    /// Ids of the public zones with a name.
    pub(super) async fn zones_named(&self, name: &Name) -> Result<Vec<String>, Error> {
        let attempt = format!("looking for the zone {name}");
        let found: ZonesByName = self.get(&attempt, "hostedzonesbyname", &[("dnsname", &name.absolute())]).await?;
        let zones = found.hosted_zones.zones.into_iter();
        let ours = zones.filter(|zone| unescaped(&zone.name).as_ref() == Some(name) && !zone.config.private_zone);
        Ok(ours.map(|zone| bare_id(&zone.id).to_owned()).collect())
    }

    pub(super) async fn zone(&self, id: &str) -> Result<HostedZone, Error> {
        let found: Result<GetZone, Error> =
            self.get(&format!("reading the zone {id}"), &format!("hostedzone/{id}"), &[]).await;
        let found = match found {
            Err(Error::Api { code, .. }) if code == "NoSuchHostedZone" => {
                return Err(Error::NoZone { zone: format!("with id {id}"), service: self.service() });
            }
            found => found?,
        };
        let servers = found.delegation_set.map(|set| set.name_servers.names).unwrap_or_default();
        Ok(HostedZone {
            id: bare_id(&found.hosted_zone.id).to_owned(),
            name: found.hosted_zone.name.parse()?,
            name_servers: servers.iter().map(|server| server.parse()).collect::<Result<_, _>>()?,
        })
    }

    /// The record sets at one name. The list begins there and goes on through the zone.
    pub(super) async fn record_sets_at(&self, zone: &str, name: &Name) -> Result<Vec<RecordSet>, Error> {
        let attempt = format!("reading the records of {name}");
        let absolute = name.absolute();
        let page: RecordSets =
            self.get(&attempt, &format!("hostedzone/{zone}/rrset"), &[("maxitems", PAGE), ("name", &absolute)]).await?;
        let sets = page.listed.sets.iter().filter_map(WireSet::record_set);
        Ok(sets.filter(|set| set.name == *name).collect())
    }

    /// All record sets.
    pub(super) async fn record_sets(&self, zone: &str) -> Result<Vec<RecordSet>, Error> {
        let (path, mut sets) = (format!("hostedzone/{zone}/rrset"), Vec::new());
        let mut from: Vec<(&str, String)> = Vec::new();
        loop {
            let mut query: Vec<(&str, &str)> = from.iter().map(|(name, value)| (*name, value.as_str())).collect();
            query.push(("maxitems", PAGE));
            let page: RecordSets = self.get("listing the records of the zone", &path, &query).await?;
            sets.extend(page.listed.sets.iter().filter_map(WireSet::record_set));
            if !page.is_truncated {
                return Ok(sets);
            }
            let next = [
                ("identifier", page.next_record_identifier),
                ("name", page.next_record_name),
                ("type", page.next_record_type),
            ];
            from = next.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        }
    }

    /// Makes changes, and waits until the service says that its name servers have them.
    pub(super) async fn change(&self, zone: &str, changes: &[(Action, &RecordSet)]) -> Result<(), Error> {
        let attempt = "changing the records of the zone";
        let body = change_request(changes);
        let path = format!("hostedzone/{zone}/rrset");
        let mut info = self.call::<Changed>(attempt, Method::POST, &path, &[], &body).await?.change_info;
        // waits: called by steps, which the engine ends at their limit
        while info.status != "INSYNC" {
            tokio::time::sleep(SYNC_INTERVAL).await;
            let path = format!("change/{}", bare_id(&info.id));
            info = self.get::<Changed>("waiting for the change", &path, &[]).await?.change_info;
        }
        Ok(())
    }

    async fn get<T: DeserializeOwned>(&self, attempt: &str, path: &str, query: &[(&str, &str)]) -> Result<T, Error> {
        self.call(attempt, Method::GET, path, query, "").await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        attempt: &str,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: &str,
    ) -> Result<T, Error> {
        let mut url = self.endpoint.clone();
        url.set_path(&format!("/{VERSION}/{path}"));
        let query = aws::query(query);
        url.set_query((!query.is_empty()).then_some(&query));
        let call =
            Call { method: method.as_str(), url: &url, body: body.as_bytes(), at: Timestamp::now(), scope: SCOPE };
        let signed = aws::sign(&call, &self.credentials);
        let request = if method == Method::POST {
            Request::post(url, body.to_owned().into()).header("content-type", "text/xml")
        } else {
            Request::get(url)
        };
        let request = signed.into_iter().fold(request, |request, (name, value)| request.secret_header(name, &value));
        let http =
            |source| Error::Http { attempt: attempt.to_owned(), service: self.service(), source: Box::new(source) };
        let reply = self.client.send(request).await.map_err(http)?;
        if !(200..300).contains(&reply.status()) {
            return Err(self.refusal(attempt, reply));
        }
        let text = String::from_utf8_lossy(reply.contents());
        quick_xml::de::from_str(&text).map_err(|error| Error::Malformed {
            attempt: attempt.to_owned(),
            server: self.service(),
            reason: error.to_string(),
        })
    }

    fn refusal(&self, attempt: &str, reply: Reply) -> Error {
        let text = String::from_utf8_lossy(reply.contents()).into_owned();
        let (status, retry_after) = (reply.status(), reply.retry_after());
        let (attempt, service) = (attempt.to_owned(), self.service());
        let (code, message) = match quick_xml::de::from_str::<ErrorResponse>(&text) {
            Ok(ErrorResponse { error: Some(error), .. }) => (error.code, error.message),
            Ok(ErrorResponse { messages: Some(messages), .. }) => {
                ("InvalidChangeBatch".to_owned(), messages.messages.join("; "))
            }
            _ => return Error::Http { attempt, service, source: Box::new(reply.refusal()) },
        };
        let class = class(&code, status);
        Error::Api { attempt, service, code, message, class, retry_after }
    }
}

fn class(code: &str, status: u16) -> ErrorClass {
    match code {
        "Throttling" | "ThrottlingException" => ErrorClass::Throttled,
        // Another batch for the same zone is under way.
        "PriorRequestNotComplete" => ErrorClass::Locked,
        "NoSuchHostedZone" | "NoSuchChange" => ErrorClass::NotFound,
        "AccessDenied"
        | "AccessDeniedException"
        | "ExpiredToken"
        | "InvalidClientTokenId"
        | "SignatureDoesNotMatch"
        | "MissingAuthenticationToken"
        | "OptInRequired" => ErrorClass::Auth,
        _ if status >= 500 => ErrorClass::Transient,
        _ if status == 403 || status == 401 => ErrorClass::Auth,
        _ if status == 429 => ErrorClass::Throttled,
        _ => ErrorClass::Invalid,
    }
}
