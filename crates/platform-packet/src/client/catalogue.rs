//! What can be had where.

use std::collections::BTreeMap;

use landfall_config::packet::Location;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Client, Coded};
use crate::Error;

/// A plan.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Plan {
    /// Its name in requests.
    pub slug: String,
    /// What it costs.
    #[serde(default)]
    pub pricing: Pricing,
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
    /// All plans.
    pub async fn plans(&self, project: &str) -> Result<Vec<Plan>, Error> {
        self.pages("listing plans", &format!("projects/{project}/plans"), &[], "plans").await
    }

    /// The codes of all metros or facilities.
    pub async fn location_codes(&self, metros: bool) -> Result<Vec<String>, Error> {
        let (path, name) = if metros { ("locations/metros", "metros") } else { ("facilities", "facilities") };
        let found: Vec<Coded> = self.pages("listing places", path, &[], name).await?;
        Ok(found.into_iter().map(|place| place.code).collect())
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
