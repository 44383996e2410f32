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
    /// Milliseconds since 1970.
    #[serde(default)]
    time: Option<i64>,
}

/// How far back events are looked for.
const RECENT: usize = 1000;

impl Client {
    /// Warnings and errors that a call with a correlation id led to, in the engine's words, newest first.
    pub async fn troubles(&self, correlation: &str) -> Result<Vec<String>, Error> {
        let path = format!("{}&max=20", search("events", &format!("correlation_id={correlation}")));
        let Events { event } = self.get(&path).await?;
        let serious = |event: &Event| matches!(event.severity.as_str(), "warning" | "error" | "alert");
        Ok(event.into_iter().filter(serious).map(|event| event.description).collect())
    }

    /// Recent events whose text contains a name, newest first, one line each.
    pub async fn events_about(&self, name: &str) -> Result<Vec<String>, Error> {
        let Events { event } = self.get(&format!("events?max={RECENT}")).await?;
        let line = |event: Event| {
            let time = event.time.and_then(|time| jiff::Timestamp::from_millisecond(time).ok());
            let time = time.map(|time| time.to_string()).unwrap_or_default();
            format!("{time} {} {}", event.severity, event.description)
        };
        Ok(event.into_iter().filter(|event| event.description.contains(name)).map(line).collect())
    }
}
