//! First uses of credentials on the disk of the bootstrap machine, where there may be no cluster yet to keep them.

use std::{
    collections::HashMap,
    fs, io,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use landfall_durable::Access;

use super::{FirstUse, Peers, Redemption, Unreadable, contract::is_key_of};

/// First uses by role and machine, each in a file.
pub struct LocalUses {
    directory: PathBuf,
    peers: Peers,
    known: Mutex<HashMap<String, Arc<Mutex<Option<FirstUse>>>>>,
}

impl LocalUses {
    /// Returns the uses that are kept in a directory, which need not exist yet.
    pub fn new(directory: PathBuf, peers: Peers) -> Self {
        Self { directory, peers, known: Mutex::default() }
    }

    /// Decides about the use of a machine's credential. The first one is on stable storage before this returns.
    pub fn redeem(&self, key: &str, peer: IpAddr, now: Timestamp) -> Result<Redemption, Unreadable> {
        let path = self.directory.join(format!("{key}.json"));
        // Of two that come at once with one credential, one is the first; others are stored meanwhile.
        let entry = Arc::clone(lock(&self.known).entry(key.to_owned()).or_default());
        let mut known = lock(&entry);
        if known.is_none() {
            *known = read(&path)?;
        }
        if let Some(first) = &*known {
            return Ok(first.again(peer, now, &self.peers));
        }
        let first = FirstUse::new(peer, now);
        let text = serde_json::to_string(&first).expect("an address and a time can be written as JSON");
        landfall_durable::write(&path, text, Access::Private).map_err(|error| Unreadable::new(&path, error))?;
        *known = Some(first);
        Ok(Redemption::Granted)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if the credential of a machine was used on this machine, in whatever role.
pub(crate) fn is_redeemed(directory: &Path, name: &str) -> bool {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    files.into_iter().any(|file| {
        let file = file.file_name();
        let key = file.to_str().and_then(|file| file.strip_suffix(".json")).and_then(|file| file.split_once('-'));
        key.is_some_and(|(_, key)| is_key_of(key, name))
    })
}

fn read(path: &Path) -> Result<Option<FirstUse>, Unreadable> {
    match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| Unreadable::new(path, error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unreadable::new(path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config_server::BOOT_TIMEOUT;

    #[test]
    fn the_first_use_outlives_the_program_and_refuses_another_machine() {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().join("redeemed");
        let (now, own, other) = (Timestamp::UNIX_EPOCH, IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 9]));
        let uses = LocalUses::new(directory.clone(), Peers::default());
        assert!(!is_redeemed(&directory, "m0"));
        assert_eq!(uses.redeem("master-m0.17", own, now).unwrap(), Redemption::Granted);
        assert!(is_redeemed(&directory, "m0") && !is_redeemed(&directory, "m1"));
        assert_eq!(uses.redeem("master-m1.17", other, now).unwrap(), Redemption::Granted, "each has its own");
        // As after a crash: what is known is on the disk.
        let uses = LocalUses::new(directory.clone(), Peers::default());
        let Redemption::Refused(reason) = uses.redeem("master-m0.17", other, now).unwrap() else { panic!("stolen") };
        assert!(reason.contains("192.0.2.1"), "{reason}");
        assert_eq!(uses.redeem("master-m0.17", own, now).unwrap(), Redemption::Granted, "its reply was lost");
        let late = uses.redeem("master-m0.17", own, now + BOOT_TIMEOUT).unwrap();
        assert!(matches!(late, Redemption::Refused(_)), "{late:?}");
        // A use that cannot be read is no reason to give the config away, nor to refuse a machine for good.
        fs::write(directory.join("master-m2.17.json"), "").unwrap();
        assert!(uses.redeem("master-m2.17", own, now).is_err());
    }
}
