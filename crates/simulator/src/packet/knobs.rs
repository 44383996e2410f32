//! What a simulated account is told to be short of, or to get wrong.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How many servers of a plan a location has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    /// A metro or a facility.
    pub location: String,
    /// The plan.
    pub plan: String,
    /// How many servers.
    pub servers: usize,
}

/// What a plan costs on the spot market of a location.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpotPrice {
    /// A metro or a facility.
    pub location: String,
    /// The plan.
    pub plan: String,
    /// Dollars per hour.
    pub price: f64,
}

/// A server that a project has reserved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserved {
    /// Its plan.
    pub plan: String,
    /// A metro or a facility.
    pub location: String,
}

/// What becomes of devices with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRule {
    /// Part of the hostname.
    pub name: String,
    /// What becomes of them.
    pub outcome: Outcome,
}

/// What becomes of a device instead of being provisioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It fails on its way; the next one with the same name does not.
    Failed,
    /// It is provisioned for ever.
    Stuck,
}

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (location, plan, servers) = three(text).ok_or("a capacity is written LOCATION/PLAN=N")?;
        let servers = servers.parse().map_err(|_| "a capacity is written LOCATION/PLAN=N")?;
        Ok(Self { location, plan, servers })
    }
}

impl FromStr for SpotPrice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (location, plan, price) = three(text).ok_or("a price is written LOCATION/PLAN=PRICE")?;
        let price = price.parse().map_err(|_| "a price is written LOCATION/PLAN=PRICE")?;
        Ok(Self { location, plan, price })
    }
}

impl FromStr for Reserved {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (plan, location) = text.split_once('@').ok_or("a reservation is written PLAN@LOCATION")?;
        Ok(Self { plan: plan.to_owned(), location: location.to_owned() })
    }
}

impl FromStr for OutcomeRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, outcome) = text.rsplit_once(' ').ok_or("a rule is written 'NAME failed|stuck'")?;
        let outcome = match outcome {
            "failed" => Outcome::Failed,
            "stuck" => Outcome::Stuck,
            _ => return Err("a rule is written 'NAME failed|stuck'".to_owned()),
        };
        Ok(Self { name: name.to_owned(), outcome })
    }
}

fn three(text: &str) -> Option<(String, String, &str)> {
    let (place, value) = text.split_once('=')?;
    let (location, plan) = place.split_once('/')?;
    Some((location.to_owned(), plan.to_owned(), value))
}
