//! Configs and roots as they are in files, read again when the files change.
//!
//! Whoever changes a file (an administrator, the bootstrap, a newer config) is believed at once and needs to tell nobody:
//! removing a root revokes the credentials of its role, and a config that is not there yet is served when it is.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Mutex,
    time::SystemTime,
};

use bytes::Bytes;
use landfall_assets::node::ConfigServerFacts;
use landfall_machine_api::Credential;

use super::{Configs, Unreadable};

/// A root has 256 bits in hexadecimal. A file with less was cut off by a crash.
const SHORTEST_ROOT: usize = 64;

/// The files of a machine's config server.
pub struct DiskFiles {
    roles: HashMap<String, RoleFiles>,
    progress: PathBuf,
}

struct RoleFiles {
    config: Cached,
    root: PathBuf,
}

impl DiskFiles {
    /// The files that the facts name, and the one with the progress of the bootstrap.
    pub fn new(facts: &ConfigServerFacts, progress: PathBuf) -> Self {
        let files = facts.roles.iter().map(|role| {
            let files = RoleFiles { config: Cached::new(&role.config), root: PathBuf::from(&role.root) };
            (role.role.name().to_owned(), files)
        });
        Self { roles: files.collect(), progress }
    }

    /// Returns true if a credential was made from the root of a role.
    ///
    /// The root is 65 bytes in the page cache, so it is read for every request: what is revoked is revoked.
    /// Only a file that is not there revokes: one that cannot be read says nothing about the credential, and a machine that were refused would
    /// give up for good.
    pub fn admits(&self, role: &str, credential: &Credential) -> Result<bool, Unreadable> {
        let Some(files) = self.roles.get(role) else { return Ok(false) };
        let Some(text) = read(&files.root)? else { return Ok(false) };
        let text = String::from_utf8_lossy(&text);
        let root = text.trim();
        if root.len() < SHORTEST_ROOT {
            return Err(Unreadable::new(&files.root, "it is cut short"));
        }
        Ok(credential.is_of(root))
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
    use landfall_machine_api::Subject;

    use super::*;

    /// 64 digits, as they are made.
    const ROOT: &str = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\n";

    fn credential(root: &str) -> Credential {
        Credential::parse(&Subject::named("w0").credential(root.trim())).unwrap()
    }

    fn files(dir: &Path) -> DiskFiles {
        let path = |name: &str| dir.join(name).display().to_string();
        let role = ServedRole { role: MachineRole::Worker, config: path("w.ign"), root: path("w.root") };
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
    fn removing_the_root_revokes_its_credentials() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        let admits = |role: &str, root: &str| files.admits(role, &credential(root)).unwrap();
        assert!(!admits("worker", ROOT), "no root, no credential");
        fs::write(dir.path().join("w.root"), ROOT).unwrap();
        assert!(admits("worker", ROOT));
        assert!(!admits("worker", "guess") && !admits("master", ROOT));
        fs::remove_file(dir.path().join("w.root")).unwrap();
        assert!(!admits("worker", ROOT));
    }

    #[test]
    fn a_root_that_cannot_be_read_revokes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        let root = dir.path().join("w.root");
        // Half a file, which is what there may be after a crash; and nothing, from which any machine could make a credential.
        for cut_short in ["", &ROOT[..20]] {
            fs::write(&root, cut_short).unwrap();
            assert!(files.admits("worker", &credential(cut_short)).is_err());
        }
        fs::remove_file(&root).unwrap();
        // A directory: there is something, and reading it fails.
        fs::create_dir(&root).unwrap();
        let error = files.admits("worker", &credential(ROOT)).unwrap_err();
        assert_eq!(error.path, root);
    }
}
