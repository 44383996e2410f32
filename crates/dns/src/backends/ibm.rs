//! An account at IBM Cloud, as its DNS services need it.

use landfall_config::{
    IbmDns,
    powervs::{Service, ServiceEndpoints},
};
use landfall_platform::Environment;
use landfall_wire::{
    Client, Limits, Reply, Request,
    ibm_cloud::{self, Credentials, Fault, Place, Session, endpoint},
};
use serde::Deserialize;
use url::Url;

use crate::Error;

const SERVICE: &str = "IBM Cloud";
/// More pages than any account has; ends a list whose end never comes.
const PAGES: usize = 100;

/// An account.
pub(super) struct Account {
    session: Session,
    endpoints: ServiceEndpoints,
}

/// An instance of a service.
#[derive(Clone, Deserialize)]
pub(super) struct Instance {
    pub(super) guid: String,
    pub(super) crn: String,
}

#[derive(Deserialize)]
struct Instances {
    resources: Vec<Instance>,
    #[serde(default)]
    next_url: Option<String>,
}

impl Account {
    pub(super) fn new(section: &IbmDns, environment: &Environment) -> Result<Self, Error> {
        let failed = |source| failed("preparing to talk", source);
        let Credentials { api_key, trust, endpoints, .. } = Credentials::read(environment).map_err(failed)?;
        let http = Client::new(&trust, Limits::default()).map_err(|error| failed(error.into()))?;
        let endpoints = section.service_endpoints.or(&endpoints);
        let session = Session::new(http, endpoint(Service::Iam, &endpoints, &Place::default()), api_key);
        Ok(Self { session, endpoints })
    }

    pub(super) fn endpoint(&self, service: Service) -> Url {
        endpoint(service, &self.endpoints, &Place::default())
    }

    /// Sends a request and reads the answer, whatever its status.
    pub(super) async fn send(&self, attempt: &str, request: impl Fn() -> Request) -> Result<Reply, Error> {
        self.session.send(|| request().accept_json()).await.map_err(|source| failed(attempt, source))
    }

    /// The instances of a service: the given one, or all of the account.
    pub(super) async fn instances(&self, service: &str, given: Option<&str>) -> Result<Vec<Instance>, Error> {
        if let Some(crn) = given {
            let guid = crn.split(':').nth(7).unwrap_or_default().to_owned();
            return Ok(vec![Instance { guid, crn: crn.to_owned() }]);
        }
        let attempt = "listing the instances of DNS services";
        let base = self.endpoint(Service::ResourceController);
        let mut next = Some(format!("/v2/resource_instances?resource_id={service}&limit=100"));
        let mut all = Vec::new();
        for _ in 0..PAGES {
            let Some(path) = next.take() else { break };
            let reply = self.send(attempt, || Request::get(below(&base, &path))).await?;
            if reply.status() >= 300 {
                return Err(refused(attempt, SERVICE, &Fault::of(&reply)));
            }
            let page: Instances = reply.json().map_err(|error| failed(attempt, error.into()))?;
            all.extend(page.resources);
            next = page.next_url.filter(|url| !url.is_empty());
        }
        Ok(all)
    }
}

/// A path, perhaps with a query, below a base.
pub(super) fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    url.set_path(&format!("{}/{}", base.path().trim_end_matches('/'), path.trim_start_matches('/')));
    url.set_query(query);
    url
}

/// A CRN as one part of a path.
pub(super) fn encoded(crn: &str) -> String {
    crn.replace('%', "%25").replace(':', "%3A").replace('/', "%2F")
}

/// A refusal of a service.
pub(super) fn refused(attempt: &str, service: &str, fault: &Fault) -> Error {
    Error::Api {
        attempt: attempt.to_owned(),
        service: service.to_owned(),
        code: fault.code.clone().unwrap_or_else(|| fault.status.to_string()),
        message: fault.message.clone(),
        class: fault.class(),
        retry_after: fault.retry_after,
    }
}

fn failed(attempt: &str, error: ibm_cloud::Error) -> Error {
    match error {
        ibm_cloud::Error::Exchange(source) => {
            Error::Http { attempt: attempt.to_owned(), service: SERVICE.to_owned(), source: Box::new(source) }
        }
        other => Error::Account(Box::new(other)),
    }
}
