//! Partitions that others switch on and off, as the console tells of it.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use landfall_platform::ErrorClass;
use tokio::time::{Instant, sleep, sleep_until};

use super::{Error, Host, PartitionId};
use crate::client::{Event, Events};

/// The pauses before a queue is begun anew; the last one for as long as it takes.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(10), Duration::from_secs(30)];
/// How far reads that bring nothing are apart at least. A console lets them wait for seconds; one that does not is not to be kept busy.
const APART: Duration = Duration::from_millis(100);
/// When a partition is looked at again that could not be looked at.
const SECOND_LOOK: Duration = Duration::from_secs(5);

/// What there is to tell.
#[derive(Debug)]
pub enum PowerNews {
    /// A partition was given another state, and nothing has changed since for as long as it was to be waited.
    Settled {
        /// Which.
        id: PartitionId,
        /// The mark of whoever made it.
        mark: String,
        /// In the console's word: `running`, `not activated`, ….
        state: String,
    },
    /// Events were lost, and partitions may have changed unnoticed. What follows is heard.
    Gap,
    /// Nothing is heard any more, for this reason. That is said once, and then it is tried for as long as it takes.
    Deaf(Error),
    /// Events are heard again. What happened meanwhile was not.
    Heard,
}

/// Tells of partitions whose state changes, for as long as it is let.
///
/// One that restarts is switched off and on, so a state is told only when nothing has changed for some time; it is read then.
pub async fn watch_power(host: &Host, settle: Duration, mut tell: impl FnMut(PowerNews)) -> ! {
    let mut changed = Changed { settle, due: BTreeMap::new() };
    let mut failures = 0;
    // waits: a service, which goes on for as long as its future is polled
    loop {
        let mut queue = host.client().events();
        let mut begun = false;
        // waits: as its outer loop does, or until events cannot be read
        let failure = loop {
            let next = Instant::now() + APART;
            let events = match read(host, &mut queue, &mut changed, &mut tell).await {
                Ok(events) => events,
                Err(error) => break host.failed("following events", error),
            };
            // A queue that begins a second time was lost in between. Only one that goes on is known to work.
            if events.iter().any(|event| event.is_gap() || begun && event.kind == "NEW_CLIENT") {
                tell(PowerNews::Gap);
            }
            if begun && failures > 0 {
                failures = 0;
                tell(PowerNews::Heard);
            }
            begun = true;
            for event in &events {
                changed.note(event, Instant::now());
            }
            if events.is_empty() {
                sleep_until(next).await;
            }
        };
        if failures == 0 {
            tell(PowerNews::Deaf(failure));
        }
        sleep(PAUSES[failures.min(PAUSES.len() - 1)]).await;
        failures += 1;
    }
}

/// Reads events, and looks at partitions meanwhile. A read is never given up: what it was about to bring would be lost.
async fn read(
    host: &Host,
    queue: &mut Events<'_>,
    changed: &mut Changed,
    tell: &mut impl FnMut(PowerNews),
) -> Result<Vec<Event>, crate::Error> {
    let mut read = pin!(queue.next());
    // waits: until the read ends, which has a limit of its own
    loop {
        let due = changed.next();
        let falls_due = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            events = &mut read => return events,
            () = falls_due => {
                for id in changed.take(Instant::now()) {
                    match look(host, &id).await {
                        Ok(news) => news.into_iter().for_each(&mut *tell),
                        Err(error) if passes(&error) => changed.again(id, Instant::now()),
                        Err(_) => {}
                    }
                }
            }
        }
    }
}

/// What is to be told of a partition: nothing, if it is gone or nobody's.
async fn look(host: &Host, id: &PartitionId) -> Result<Option<PowerNews>, Error> {
    let Some(entry) = host.partition(id).await? else { return Ok(None) };
    let (mark, state) = (entry.text("Description"), entry.text("PartitionState"));
    Ok((!mark.is_empty()).then(|| PowerNews::Settled { id: id.clone(), mark, state }))
}

fn passes(error: &Error) -> bool {
    error.class().is_retryable() || error.class() == ErrorClass::Timeout
}

/// Partitions that have changed, and when each is looked at.
#[derive(Debug)]
struct Changed {
    settle: Duration,
    due: BTreeMap<PartitionId, Instant>,
}

impl Changed {
    /// Takes note of an event, if it is about the state of a partition. What was to be looked at soon has to settle again.
    fn note(&mut self, event: &Event, now: Instant) {
        let Some(id) = partition_of(event) else { return };
        if event.kind == "DELETE_URI" {
            self.due.remove(&id);
        } else if event.detail.split(',').any(|property| property.trim() == "PartitionState") {
            self.due.insert(id, now + self.settle);
        }
    }

    /// One that could not be looked at.
    fn again(&mut self, id: PartitionId, now: Instant) {
        self.due.entry(id).or_insert(now + SECOND_LOOK);
    }

    /// When the next one is due.
    fn next(&self) -> Option<Instant> {
        self.due.values().min().copied()
    }

    /// Those that are due.
    fn take(&mut self, now: Instant) -> Vec<PartitionId> {
        self.due.extract_if(.., |_, due| *due <= now).map(|(id, _)| id).collect()
    }
}

/// The partition that an event is about.
fn partition_of(event: &Event) -> Option<PartitionId> {
    let (rest, id) = event.data.rsplit_once('/')?;
    let is_partition = event.kind.ends_with("_URI") && rest.ends_with("/LogicalPartition");
    is_partition.then(|| id.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const LPAR: &str = "1B0A5D1E-0000-4000-8000-000000000001";

    fn event(kind: &str, data: &str, detail: &str) -> Event {
        Event { id: 1, kind: kind.to_owned(), data: data.to_owned(), detail: detail.to_owned() }
    }

    fn uri(kind: &str) -> String {
        format!("http://localhost:12080/rest/api/uom/ManagedSystem/98498bed-c78a-3a4f-b90a-4b715418fcb6/{kind}/{LPAR}")
    }

    #[test]
    fn only_the_state_of_a_partition_is_followed() {
        let mut changed = Changed { settle: Duration::ZERO, due: BTreeMap::new() };
        let lpar = uri("LogicalPartition");
        let adapter = format!("{lpar}/ClientNetworkAdapter/{LPAR}");
        for other in [
            event("MODIFY_URI", &lpar, "NVRAM,ReferenceCode"),
            event("MODIFY_URI", &uri("VirtualIOServer"), "PartitionState"),
            event("MODIFY_URI", &adapter, "PartitionState"),
            event("ADD_URI", &lpar, ""),
            event("CUSTOM_CLIENT_EVENT", &lpar, "PartitionState"),
            event("NEW_CLIENT", "", ""),
        ] {
            changed.note(&other, Instant::now());
            assert_eq!(changed.next(), None, "{other:?}");
        }
        changed.note(&event("MODIFY_URI", &lpar, "ReferenceCode,PartitionState"), Instant::now());
        assert_eq!(changed.take(Instant::now()), [LPAR.parse().unwrap()]);
    }

    #[test]
    fn a_partition_is_looked_at_when_it_has_settled() {
        let mut changed = Changed { settle: Duration::from_secs(15), due: BTreeMap::new() };
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let modified = event("MODIFY_URI", &uri("LogicalPartition"), "PartitionState");
        changed.note(&modified, start);
        changed.note(&modified, start + 10 * second);
        assert_eq!(changed.next(), Some(start + 25 * second));
        assert!(changed.take(start + 20 * second).is_empty());
        assert_eq!(changed.take(start + 25 * second).len(), 1);
        assert_eq!(changed.next(), None);
        // One that is deleted meanwhile is not looked at.
        changed.note(&modified, start);
        changed.note(&event("DELETE_URI", &uri("LogicalPartition"), ""), start);
        assert_eq!(changed.next(), None);
    }
}
