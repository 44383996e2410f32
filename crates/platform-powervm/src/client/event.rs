//! What happens, as it happens.

use landfall_wire::Request;
use serde::Serialize;

use super::session::Client;
use crate::Error;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// A number that grows.
    pub id: u64,
    /// `ADD_URI`, `MODIFY_URI`, `DELETE_URI`, `NEW_CLIENT`, `MISSING_EVENTS`, `CUSTOM_CLIENT_EVENT`, ….
    pub kind: String,
    /// What it happened to, mostly a URI.
    pub data: String,
    /// Which properties changed, as a list with commas, or whatever a client wrote.
    pub detail: String,
}

impl Event {
    /// Whether events were lost, so that what is known has to be read again.
    pub fn is_gap(&self) -> bool {
        matches!(self.kind.as_str(), "MISSING_EVENTS" | "CACHE_CLEARED")
    }
}

/// A queue of events.
#[derive(Debug)]
pub struct Events<'a> {
    client: &'a Client,
    application: String,
    begun: bool,
}

impl Client {
    /// A queue that begins now, and that nobody else reads.
    pub fn events(&self) -> Events<'_> {
        let application = format!("{:032x}", rand::random::<u128>());
        Events { client: self, application, begun: false }
    }
}

impl Events<'_> {
    /// Waits for events. After a while without any, there are none.
    pub async fn next(&mut self) -> Result<Vec<Event>, Error> {
        let attempt = "reading events";
        let query = format!("QUEUE_CLIENTKEY_METHOD=USE_APPLICATIONID&QUEUE_APPLICATIONID={}", self.application);
        let reply = self.client.call(attempt, &format!("uom/Event?{query}"), Request::get).await?;
        let entries = self.client.entries(attempt, &reply)?;
        let events: Vec<Event> = entries
            .iter()
            .map(|entry| Event {
                id: entry.number("EventID").unwrap_or_default(),
                kind: entry.text("EventType"),
                data: entry.text("EventData"),
                detail: entry.text("EventDetail"),
            })
            .collect();
        if !self.begun && !events.iter().any(|event| event.kind == "NEW_CLIENT") {
            return Err(self.client.misunderstood(attempt, "the queue does not begin with NEW_CLIENT".to_owned()));
        }
        self.begun = true;
        Ok(events)
    }
}
