//! Reserved hardware.

use serde::Deserialize;

use super::{Client, Coded, Reference};
use crate::Error;

/// Reserved hardware.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Reservation {
    /// Its id.
    pub id: String,
    /// What it is.
    #[serde(default)]
    pub plan: Option<PlanName>,
    /// Where it is.
    #[serde(default)]
    pub facility: Option<Coded>,
    /// Whether a device can be made on it now.
    #[serde(default)]
    pub provisionable: bool,
    /// The device on it.
    #[serde(default)]
    pub device: Option<Reference>,
}

/// The plan of a server, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PlanName {
    /// Its name.
    #[serde(default)]
    pub slug: String,
}

impl Reservation {
    /// Whether it will be usable by itself: it has no device any more, and is being wiped.
    pub fn is_preparing(&self) -> bool {
        !self.provisionable && self.device.is_none()
    }
}

impl Client {
    /// The reserved hardware of a project.
    pub async fn reservations(&self, project: &str) -> Result<Vec<Reservation>, Error> {
        let path = format!("projects/{project}/hardware-reservations");
        self.pages("listing reserved hardware", &path, &[], "hardware_reservations").await
    }
}
