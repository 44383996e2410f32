//! IBM Cloud DNS Services: private zones, which networks see that a zone permits.

use async_trait::async_trait;
use landfall_config::powervs::Service;
use landfall_platform::ErrorClass;
use landfall_wire::{Method, Request, ibm_cloud::Fault};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::{
    contended::{Record, RecordApi},
    ibm::{Account, below, refused},
    service,
};
use crate::{Data, Error, Name, Type, Zone};

const SERVICE: &str = "IBM Cloud DNS Services";
/// The id of the service in IBM's catalogue.
const SERVICE_ID: &str = "b4ed8a30-936f-11e9-b289-1d079699cbe5";
/// Items that are asked for at once, and as many pages as no zone has.
const PAGE: usize = 200;
const PAGES: usize = 1000;

/// DNS Services of an account.
pub(crate) struct DnsServices {
    account: Account,
    instance: Option<String>,
    zone: Name,
    /// The path of the zone.
    found: OnceCell<String>,
}

#[derive(Deserialize)]
struct WireZone {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct WireRecord {
    id: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    ttl: u32,
    rdata: Value,
    #[serde(default)]
    created_on: String,
}

impl WireRecord {
    /// The record, if its type is one known here.
    fn understood(self) -> Option<Record> {
        let text = |key: &str| self.rdata[key].as_str();
        let data = match self.kind.parse().ok()? {
            Type::A => Data::A(text("ip")?.parse().ok()?),
            Type::Aaaa => Data::Aaaa(text("ip")?.parse().ok()?),
            Type::Cname => Data::Cname(text("cname")?.parse().ok()?),
            Type::Ptr => Data::Ptr(text("ptrdname")?.parse().ok()?),
            Type::Srv => Data::Srv(service::from_json(&self.rdata)?),
            Type::Txt => Data::Txt(text("text")?.to_owned()),
        };
        Some(Record { id: self.id, created_on: self.created_on, name: self.name.parse().ok()?, ttl: self.ttl, data })
    }
}

impl DnsServices {
    pub(super) fn new(account: Account, instance: Option<String>, zone: Name) -> Self {
        Self { account, instance, zone, found: OnceCell::new() }
    }

    async fn path(&self) -> Result<&String, Error> {
        self.found
            .get_or_try_init(|| async {
                for instance in self.account.instances(SERVICE_ID, self.instance.as_deref()).await? {
                    let path = format!("v1/instances/{}/dnszones", instance.guid);
                    let attempt = format!("looking for the zone {}", self.zone);
                    let zones: Vec<WireZone> = self.pages(&attempt, &path, "dnszones").await?;
                    if let Some(zone) = zones.into_iter().find(|zone| zone.name == self.zone.as_str()) {
                        return Ok(format!("{path}/{}", zone.id));
                    }
                }
                Err(Error::NoZone { zone: self.zone.to_string(), service: SERVICE.to_owned() })
            })
            .await
    }

    async fn pages<T: DeserializeOwned>(&self, attempt: &str, path: &str, name: &str) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for page in 0..PAGES {
            let path = format!("{path}?limit={PAGE}&offset={}", page * PAGE);
            let mut answer = self.call(attempt, Method::GET, &path, None).await?;
            let items = answer[name].as_array_mut().map(std::mem::take).unwrap_or_default();
            let count = items.len();
            all.extend(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()));
            if count < PAGE {
                break;
            }
        }
        Ok(all)
    }

    async fn call(&self, attempt: &str, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Error> {
        let url = below(&self.account.endpoint(Service::DnsServices), path);
        let request = || match body {
            Some(body) => Request::json(method.clone(), url.clone(), body),
            None => Request::bare(method.clone(), url.clone()),
        };
        let reply = self.account.send(attempt, request).await?;
        if reply.status() >= 300 {
            return Err(refused(attempt, SERVICE, &Fault::of(&reply)));
        }
        Ok(reply.json().unwrap_or_default())
    }
}

#[async_trait]
impl RecordApi for DnsServices {
    fn describe(&self) -> String {
        SERVICE.to_owned()
    }

    async fn zone(&self) -> Result<Zone, Error> {
        self.path().await?;
        // Private zones have no name servers that anybody could ask.
        Ok(Zone { name: self.zone.clone(), name_servers: Vec::new() })
    }

    async fn records(&self, name: Option<&Name>) -> Result<Vec<Record>, Error> {
        let path = format!("{}/resource_records", self.path().await?);
        let records: Vec<WireRecord> = self.pages("listing the records of the zone", &path, "resource_records").await?;
        let records = records.into_iter().filter_map(WireRecord::understood);
        Ok(records.filter(|record| name.is_none_or(|name| record.name == *name)).collect())
    }

    async fn add(&self, name: &Name, ttl: u32, data: &Data) -> Result<(), Error> {
        let rdata = match data {
            Data::A(address) => json!({"ip": address}),
            Data::Aaaa(address) => json!({"ip": address}),
            Data::Cname(name) => json!({"cname": name.as_str()}),
            Data::Ptr(name) => json!({"ptrdname": name.as_str()}),
            Data::Srv(service) => service::to_json(service),
            Data::Txt(text) => json!({"text": text}),
        };
        let mut body = json!({"name": name.as_str(), "type": data.kind().as_str(), "ttl": ttl, "rdata": rdata});
        // The name of a service is put together there.
        if let (Data::Srv(_), Some((service, protocol, rest))) = (data, service::parts(name)) {
            body["service"] = format!("_{service}").into();
            body["protocol"] = protocol.into();
            body["name"] = rest.into();
        }
        let (attempt, path) = (format!("making the record {name}"), format!("{}/resource_records", self.path().await?));
        match self.call(&attempt, Method::POST, &path, Some(&body)).await {
            // It exists; whether it is the one that was wanted, the next look tells.
            Err(Error::Api { class: ErrorClass::Locked, .. }) => Ok(()),
            done => done.map(drop),
        }
    }

    async fn delete(&self, record: &Record) -> Result<(), Error> {
        let path = format!("{}/resource_records/{}", self.path().await?, record.id);
        match self.call(&format!("removing the record {}", record.name), Method::DELETE, &path, None).await {
            Err(Error::Api { class: ErrorClass::NotFound, .. }) => Ok(()),
            done => done.map(drop),
        }
    }
}
