//! The engine's log of what happened.

use serde::Deserialize;

use super::search;
use crate::{Client, Error};

#[derive(Deserialize)]
struct Events {
    #[serde(default)]
    event: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    description: String,
    #[serde(default)]
    severity: String,
}

impl Client {
    /// Warnings and errors that a call with a correlation id led to, in the engine's words, newest first.
    pub async fn troubles(&self, correlation: &str) -> Result<Vec<String>, Error> {
        let path = format!("{}&max=20", search("events", &format!("correlation_id={correlation}")));
        let Events { event } = self.get(&path).await?;
        let serious = |event: &Event| matches!(event.severity.as_str(), "warning" | "error" | "alert");
        Ok(event.into_iter().filter(serious).map(|event| event.description).collect())
    }
}
