//! What can be had where.

use std::collections::BTreeMap;

use landfall_config::packet::Location;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Client;
use crate::Error;

/// A plan.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Plan {
    /// Its name in requests.
    pub slug: String,
    /// What it costs.
    #[serde(default)]
    pub pricing: Pricing,
    /// `baremetal`; other lines of products are no servers.
    #[serde(default)]
    pub line: String,
    /// What it is made of.
    #[serde(default)]
    pub specs: Specs,
}

/// What a plan is made of.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Specs {
    /// Its processors.
    #[serde(default)]
    pub cpus: Vec<Processors>,
    /// Its memory.
    #[serde(default)]
    pub memory: Memory,
}

/// Processors of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Processors {
    /// How many.
    #[serde(default)]
    pub count: u32,
    /// Which.
    #[serde(default, rename = "type")]
    pub kind: String,
}

/// The memory of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Memory {
    /// How much, for people: `64GB`.
    #[serde(default)]
    pub total: String,
}

/// A metro or a facility.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Place {
    /// Its code.
    pub code: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
}

/// An operating system of the platform's own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct OperatingSystem {
    /// Its name in requests.
    pub slug: String,
    /// Its name for people.
    #[serde(default)]
    pub name: String,
    /// The family: `flatcar`, `ubuntu`.
    #[serde(default)]
    pub distro: String,
}

/// How well stocked each place is with each plan: `normal`, `limited`, `critical`, `unavailable`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Stock {
    capacity: BTreeMap<String, BTreeMap<String, Level>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Level {
    #[serde(default)]
    level: String,
}

impl Stock {
    /// How well a place is stocked with a plan; none if the plan is not offered there.
    pub fn level(&self, place: &str, plan: &str) -> Option<&str> {
        Some(self.capacity.get(place)?.get(plan)?.level.as_str())
    }
}

/// What a plan costs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Pricing {
    /// Dollars per hour.
    #[serde(default)]
    pub hour: Option<f64>,
}

/// How many servers of a plan are wanted.
pub type Capacity = BTreeMap<String, usize>;

impl Client {
    /// All plans; those that a project may use, if one is named.
    pub async fn plans(&self, project: Option<&str>) -> Result<Vec<Plan>, Error> {
        let path = project.map_or_else(|| "plans".to_owned(), |project| format!("projects/{project}/plans"));
        self.pages("listing plans", &path, &[], "plans").await
    }

    /// All metros or facilities.
    pub async fn places(&self, metros: bool) -> Result<Vec<Place>, Error> {
        let (path, name) = if metros { ("locations/metros", "metros") } else { ("facilities", "facilities") };
        self.pages("listing places", path, &[], name).await
    }

    /// The platform's own operating systems.
    pub async fn operating_systems(&self) -> Result<Vec<OperatingSystem>, Error> {
        self.pages("listing operating systems", "operating-systems", &[], "operating_systems").await
    }

    /// How well metros or facilities are stocked.
    pub async fn stock(&self, metros: bool) -> Result<Stock, Error> {
        self.get("asking for capacity", if metros { "capacity/metros" } else { "capacity" }).await
    }

    /// Whether a place has so many servers of each plan.
    pub async fn has_capacity(&self, location: &Location, wanted: &Capacity) -> Result<bool, Error> {
        let path = if matches!(location, Location::Metro(_)) { "capacity/metros" } else { "capacity" };
        let servers: Vec<Value> = wanted
            .iter()
            .map(|(plan, quantity)| json!({location.kind(): location.code(), "plan": plan, "quantity": quantity}))
            .collect();
        let answer: Value = self.post("asking for capacity", path, &json!({"servers": servers})).await?;
        let servers = answer["servers"].as_array().cloned().unwrap_or_default();
        Ok(servers.iter().all(|server| server["available"] == true))
    }

    /// The price of a plan on the spot market of a place; none if it is not sold there.
    pub async fn spot_price(&self, location: &Location, plan: &str) -> Result<Option<f64>, Error> {
        let path =
            if matches!(location, Location::Metro(_)) { "market/spot/prices/metros" } else { "market/spot/prices" };
        let path = format!("{path}?{}={}&plan={plan}", location.kind(), location.code());
        let answer: Value = self.get("reading spot prices", &path).await?;
        Ok(answer["spot_market_prices"][location.code()][plan]["price"].as_f64())
    }
}
