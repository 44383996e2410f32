//! Configs and tokens as they are in files, read again when the files change.
//!
//! Whoever changes a file (an administrator, the bootstrap, a newer config) is believed at once and needs to tell nobody:
//! removing a digest revokes the token of its role, and a config that is not there yet is served when it is.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Mutex,
    time::SystemTime,
};

use bytes::Bytes;
use landfall_assets::node::ConfigServerFacts;

use super::{Admission, Configs, Tokens, Unreadable};

/// The files of a machine's config server.
pub struct DiskFiles {
    roles: HashMap<String, RoleFiles>,
    progress: PathBuf,
}

struct RoleFiles {
    config: Cached,
    digest: PathBuf,
}

impl DiskFiles {
    /// The files that the facts name, and the one with the progress of the bootstrap.
    pub fn new(facts: &ConfigServerFacts, progress: PathBuf) -> Self {
        let files = facts.roles.iter().map(|role| {
            let files = RoleFiles { config: Cached::new(&role.config), digest: PathBuf::from(&role.token_digest) };
            (role.role.name().to_owned(), files)
        });
        Self { roles: files.collect(), progress }
    }

    /// The roles that are served.
    pub(super) fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.keys().map(String::as_str)
    }
}

impl Configs for DiskFiles {
    fn config(&self, role: &str) -> Result<Option<Bytes>, Unreadable> {
        self.roles.get(role).map_or(Ok(None), |files| files.config.read())
    }

    fn progress(&self) -> Result<Option<Bytes>, Unreadable> {
        Ok(read(&self.progress)?.map(Bytes::from))
    }
}

impl Admission for DiskFiles {
    /// The digest is 65 bytes in the page cache, so it is read for every request: what is revoked is revoked.
    /// Only a file that is not there revokes: one that cannot be read says nothing about the token, and a machine that were refused would
    /// give up for good.
    fn admits(&self, role: &str, token: &str) -> Result<bool, Unreadable> {
        let Some(files) = self.roles.get(role) else { return Ok(false) };
        let Some(text) = read(&files.digest)? else { return Ok(false) };
        let text = String::from_utf8_lossy(&text);
        let tokens =
            Tokens::from_digests([(role, text.as_ref())]).map_err(|error| Unreadable::new(&files.digest, error))?;
        Ok(tokens.admit(role, token))
    }

    fn admits_any(&self, token: &str) -> Result<bool, Unreadable> {
        let mut unreadable = None;
        for role in self.roles.keys() {
            match self.admits(role, token) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) => unreadable = Some(error),
            }
        }
        unreadable.map_or(Ok(false), Err)
    }
}

/// Reads a file, if it is there.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Unreadable> {
    match fs::read(path) {
        Ok(contents) => Ok(Some(contents)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unreadable::new(path, error)),
    }
}

/// A file that is kept in memory for as long as it does not change: a thousand machines ask for the same one.
struct Cached {
    path: PathBuf,
    kept: Mutex<Option<(Stamp, Bytes)>>,
}

/// By which a change is noticed. Files are replaced and not written over, so the length tells apart what the time does not.
type Stamp = (SystemTime, u64);

impl Cached {
    fn new(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned(), kept: Mutex::new(None) }
    }

    fn read(&self) -> Result<Option<Bytes>, Unreadable> {
        let stamp = match fs::metadata(&self.path).and_then(|found| Ok((found.modified()?, found.len()))) {
            Ok(stamp) => stamp,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Unreadable::new(&self.path, error)),
        };
        let mut kept = self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((known, contents)) = &*kept
            && *known == stamp
        {
            return Ok(Some(contents.clone()));
        }
        let Some(contents) = read(&self.path)?.map(Bytes::from) else { return Ok(None) };
        // Half a file is no config; Ignition tries again.
        serde_json::from_slice::<serde::de::IgnoredAny>(&contents)
            .map_err(|error| Unreadable::new(&self.path, error))?;
        *kept = Some((stamp, contents.clone()));
        Ok(Some(contents))
    }
}

#[cfg(test)]
mod tests {
    use landfall_assets::{MachineRole, node::ServedRole};

    use super::*;

    // printf secret | sha256sum
    const DIGEST: &str = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\n";

    fn files(dir: &Path) -> DiskFiles {
        let path = |name: &str| dir.join(name).display().to_string();
        let role = ServedRole { role: MachineRole::Worker, config: path("w.ign"), token_digest: path("w.sha256") };
        let facts = ConfigServerFacts { certificate: path("tls.crt"), key: path("tls.key"), roles: vec![role] };
        DiskFiles::new(&facts, dir.join("progress.json"))
    }

    #[test]
    fn a_config_is_served_as_it_is_now() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        assert_eq!(files.config("worker").unwrap(), None, "not there yet");
        fs::write(dir.path().join("w.ign"), "{\"ignition\":").unwrap();
        assert!(files.config("worker").is_err(), "half a file");
        fs::write(dir.path().join("w.ign"), "{\"a\":1}").unwrap();
        assert_eq!(files.config("worker").unwrap().unwrap(), "{\"a\":1}");
        fs::write(dir.path().join("w.ign"), "{\"a\":12}").unwrap();
        assert_eq!(files.config("worker").unwrap().unwrap(), "{\"a\":12}");
        assert_eq!(files.config("master").unwrap(), None);
    }

    #[test]
    fn removing_the_digest_revokes_the_token() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        let admits = |role: &str, token: &str| files.admits(role, token).unwrap();
        assert!(!admits("worker", "secret"), "no digest, no token");
        fs::write(dir.path().join("w.sha256"), DIGEST).unwrap();
        assert!(admits("worker", "secret") && files.admits_any("secret").unwrap());
        assert!(!admits("worker", "guess") && !admits("master", "secret") && !files.admits_any("guess").unwrap());
        fs::remove_file(dir.path().join("w.sha256")).unwrap();
        assert!(!admits("worker", "secret"));
    }

    #[test]
    fn a_digest_that_cannot_be_read_revokes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        let digest = dir.path().join("w.sha256");
        // Half a file, which is what there may be after a crash.
        fs::write(&digest, "").unwrap();
        assert!(files.admits("worker", "secret").is_err() && files.admits_any("secret").is_err());
        fs::remove_file(&digest).unwrap();
        // A directory: there is something, and reading it fails.
        fs::create_dir(&digest).unwrap();
        let error = files.admits("worker", "secret").unwrap_err();
        assert_eq!(error.path, digest);
    }
}
