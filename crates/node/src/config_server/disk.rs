//! Configs and tokens as they are in files, read again when the files change.
//!
//! Whoever changes a file (an administrator, the bootstrap, a newer config) is believed at once and needs to tell nobody:
//! removing a digest revokes the token of its role, and a config that is not there yet is served when it is.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
    time::SystemTime,
};

use bytes::Bytes;
use landfall_assets::node::ConfigServerFacts;

use super::{Admission, Configs, Tokens};

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
    fn config(&self, role: &str) -> Option<Bytes> {
        self.roles.get(role)?.config.read()
    }

    fn progress(&self) -> Option<Bytes> {
        fs::read(&self.progress).ok().map(Bytes::from)
    }
}

impl Admission for DiskFiles {
    /// The digest is 65 bytes in the page cache, so it is read for every request: what is revoked is revoked.
    fn admits(&self, role: &str, token: &str) -> bool {
        let Some(files) = self.roles.get(role) else { return false };
        let Ok(text) = fs::read_to_string(&files.digest) else { return false };
        match Tokens::from_digests([(role, text.as_str())]) {
            Ok(tokens) => tokens.admits(role, token),
            Err(error) => {
                tracing::error!(%error, file = %files.digest.display(), "nobody is admitted");
                false
            }
        }
    }

    fn admits_any(&self, token: &str) -> bool {
        self.roles.keys().any(|role| self.admits(role, token))
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

    fn read(&self) -> Option<Bytes> {
        let metadata = fs::metadata(&self.path).ok()?;
        let stamp = (metadata.modified().ok()?, metadata.len());
        let mut kept = self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((known, contents)) = &*kept
            && *known == stamp
        {
            return Some(contents.clone());
        }
        let contents = Bytes::from(fs::read(&self.path).ok()?);
        // Half a file is no config; Ignition tries again.
        serde_json::from_slice::<serde::de::IgnoredAny>(&contents).ok()?;
        *kept = Some((stamp, contents.clone()));
        Some(contents)
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
        assert_eq!(files.config("worker"), None, "not there yet");
        fs::write(dir.path().join("w.ign"), "{\"ignition\":").unwrap();
        assert_eq!(files.config("worker"), None, "half a file");
        fs::write(dir.path().join("w.ign"), "{\"a\":1}").unwrap();
        assert_eq!(files.config("worker").unwrap(), "{\"a\":1}");
        fs::write(dir.path().join("w.ign"), "{\"a\":12}").unwrap();
        assert_eq!(files.config("worker").unwrap(), "{\"a\":12}");
        assert_eq!(files.config("master"), None);
    }

    #[test]
    fn removing_the_digest_revokes_the_token() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        assert!(!files.admits("worker", "secret"), "no digest, no token");
        fs::write(dir.path().join("w.sha256"), DIGEST).unwrap();
        assert!(files.admits("worker", "secret") && files.admits_any("secret"));
        assert!(!files.admits("worker", "guess") && !files.admits("master", "secret") && !files.admits_any("guess"));
        fs::remove_file(dir.path().join("w.sha256")).unwrap();
        assert!(!files.admits("worker", "secret"));
    }
}
