//! Files with secrets, which one machine fetches once.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use landfall_platform::{MachineRef, Machines};
use sha2::{Digest as _, Sha256};

/// How long after its first answer an address may ask again. A reply may be lost, and a server of bare metal that dies while it
/// fetches takes minutes to boot again.
pub(crate) const RETRY: Duration = Duration::from_mins(30);

/// Machine that may fetch private files.
pub enum Reader {
    /// The one with this name, from an address that the platform has assigned to it.
    Machine {
        /// Tells the addresses.
        machines: Arc<dyn Machines>,
        /// Its name.
        name: String,
    },
    /// The address that shows the token first. Only for networks that translate addresses.
    First,
}

/// Answer to a request for a private file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    File(Bytes),
    /// Not for this address, or not any more.
    Closed,
    /// The platform does not say yet that the address is the machine's.
    NotYet,
}

/// The private files of a host.
pub(crate) struct Private {
    /// Digest of what comes first in their paths; none if they are not served at all.
    token: Option<[u8; 32]>,
    files: BTreeMap<String, Bytes>,
    reader: OnceLock<Reader>,
    /// First answers, by address.
    answered: Mutex<HashMap<IpAddr, Instant>>,
    is_closed: AtomicBool,
}

impl Private {
    pub(crate) fn new(token: Option<&str>, files: BTreeMap<String, Bytes>) -> Self {
        Self {
            token: token.map(|token| Sha256::digest(token).into()),
            files,
            reader: OnceLock::new(),
            answered: Mutex::default(),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Serves this reader. The first one that is named stays.
    pub(crate) fn admit(&self, reader: Reader) {
        let _named = self.reader.set(reader);
    }

    /// Serves nothing from now on.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Answers a request that came over TLS.
    pub(crate) async fn open(&self, path: &str, peer: IpAddr, now: Instant) -> Opened {
        let peer = peer.to_canonical();
        let Some(file) = self.find(path) else { return Opened::Closed };
        if self.is_closed.load(Ordering::Relaxed) {
            return Opened::Closed;
        }
        match self.answered_to(peer) {
            Some(first) if now.duration_since(first) < RETRY => return Opened::File(file),
            Some(_) => {
                tracing::warn!(%peer, path = "private", "a config that was fetched already is not served again");
                return Opened::Closed;
            }
            None => {}
        }
        let is_reader = match self.reader.get() {
            None => false,
            Some(Reader::First) => return self.first(peer, now, file),
            Some(Reader::Machine { machines, name }) => match machines.get(MachineRef::from(name.as_str())).await {
                Ok(Some(machine)) => machine.addresses.iter().any(|own| own.to_canonical() == peer),
                Ok(None) | Err(_) => false,
            },
        };
        if is_reader {
            self.answers().insert(peer, now);
            tracing::info!(%peer, "the bootstrap machine fetches its config");
            return Opened::File(file);
        }
        tracing::warn!(
            %peer,
            "an address that the platform has not assigned to the bootstrap machine asks for its config; if the network \
             translates addresses, use --asset-translated"
        );
        Opened::NotYet
    }

    fn first(&self, peer: IpAddr, now: Instant, file: Bytes) -> Opened {
        let mut answers = self.answers();
        if !answers.is_empty() {
            return Opened::Closed;
        }
        answers.insert(peer, now);
        Opened::File(file)
    }

    /// Finds a file. Digests are compared, so the time that it takes does not tell how much of a token is right.
    fn find(&self, path: &str) -> Option<Bytes> {
        let (token, name) = path.strip_prefix('/')?.split_once('/')?;
        let presented: [u8; 32] = Sha256::digest(token).into();
        if self.token? != presented {
            return None;
        }
        self.files.get(name).cloned()
    }

    fn answered_to(&self, peer: IpAddr) -> Option<Instant> {
        self.answers().get(&peer).copied()
    }

    fn answers(&self) -> std::sync::MutexGuard<'_, HashMap<IpAddr, Instant>> {
        self.answered.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Private").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use landfall_platform::{Listing, Machine, MachineSpec, Power, PowerState, Progress, StepError};

    use super::*;

    const OWN: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    /// A platform whose only machine has these addresses.
    #[derive(Default)]
    struct Assigned(Mutex<Vec<IpAddr>>);

    #[async_trait]
    impl Machines for Assigned {
        async fn ensure(&self, _: &MachineSpec, _: Progress<'_>) -> Result<Machine, StepError> {
            unreachable!("nothing is made here")
        }

        async fn list(&self) -> Result<Listing, StepError> {
            unreachable!("one machine is asked for")
        }

        async fn get(&self, machine: MachineRef<'_>) -> Result<Option<Machine>, StepError> {
            Ok(Some(Machine {
                name: machine.name.to_owned(),
                id: "1".to_owned(),
                provider_id: "test://1".to_owned(),
                power: PowerState::On,
                state: "active".to_owned(),
                addresses: self.0.lock().unwrap().clone(),
            }))
        }

        async fn power(&self, _: MachineRef<'_>, _: Power) -> Result<(), StepError> {
            unreachable!("nothing is switched here")
        }

        async fn delete(&self, _: MachineRef<'_>, _: Progress<'_>) -> Result<(), StepError> {
            unreachable!("nothing is deleted here")
        }
    }

    fn private(token: Option<&str>) -> Private {
        Private::new(token, BTreeMap::from([("bootstrap.ign".to_owned(), Bytes::from_static(b"{}"))]))
    }

    fn served() -> Opened {
        Opened::File(Bytes::from_static(b"{}"))
    }

    #[tokio::test]
    async fn only_the_addresses_that_the_platform_assigned_are_served() {
        let (private, now) = (private(Some("secret")), Instant::now());
        assert_eq!(private.open("/secret/bootstrap.ign", OWN, now).await, Opened::NotYet, "no machine is known yet");
        let machines = Arc::new(Assigned::default());
        private.admit(Reader::Machine { machines: machines.clone(), name: "demo-bootstrap".to_owned() });
        assert_eq!(private.open("/secret/bootstrap.ign", OWN, now).await, Opened::NotYet, "no address is assigned yet");
        machines.0.lock().unwrap().push(OWN);
        assert_eq!(private.open("/secret/bootstrap.ign", OTHER, now).await, Opened::NotYet);
        assert_eq!(private.open("/secret/bootstrap.ign", OWN, now).await, served());
        assert_eq!(private.open("/wrong/bootstrap.ign", OWN, now).await, Opened::Closed);
        assert_eq!(private.open("/secret/other", OWN, now).await, Opened::Closed);
        let mapped = std::net::Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped().into();
        assert_eq!(private.open("/secret/bootstrap.ign", mapped, now).await, served(), "the same address");
    }

    #[tokio::test]
    async fn a_lost_reply_does_not_lock_out_and_later_requests_open_nothing() {
        let (private, now) = (private(Some("secret")), Instant::now());
        let machines = Arc::new(Assigned(Mutex::new(vec![OWN])));
        private.admit(Reader::Machine { machines: machines.clone(), name: "demo-bootstrap".to_owned() });
        assert_eq!(private.open("/secret/bootstrap.ign", OWN, now).await, served());
        assert_eq!(private.open("/secret/bootstrap.ign", OWN, now + RETRY / 2).await, served(), "it asks again");
        assert_eq!(private.open("/secret/bootstrap.ign", OWN, now + RETRY).await, Opened::Closed);
        // A device that failed to provision was replaced by another one.
        *machines.0.lock().unwrap() = vec![OTHER];
        assert_eq!(private.open("/secret/bootstrap.ign", OTHER, now + RETRY).await, served());
        private.close();
        assert_eq!(private.open("/secret/bootstrap.ign", OTHER, now + RETRY).await, Opened::Closed);
    }

    #[tokio::test]
    async fn behind_translation_the_first_address_is_the_only_one() {
        let (private, now) = (private(Some("secret")), Instant::now());
        private.admit(Reader::First);
        assert_eq!(private.open("/secret/bootstrap.ign", OWN, now).await, served());
        assert_eq!(private.open("/secret/bootstrap.ign", OTHER, now).await, Opened::Closed);
        assert_eq!(private.open("/secret/bootstrap.ign", OWN, now).await, served());
    }

    #[tokio::test]
    async fn without_a_token_nothing_is_served() {
        let private = private(None);
        private.admit(Reader::First);
        for path in ["/bootstrap.ign", "//bootstrap.ign", "/None/bootstrap.ign"] {
            assert_eq!(private.open(path, OWN, Instant::now()).await, Opened::Closed, "{path}");
        }
    }
}
