//! The cluster's own file of SSH host keys.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use landfall_durable::{Access, write};

/// Types of host keys; what else a machine tells does not get into the file.
const KINDS: [&str; 5] =
    ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"];

/// A file of known hosts, with machines named by their names in the cluster.
pub(super) struct KnownHosts {
    path: PathBuf,
    text: String,
    /// Machines that have told their keys over a channel that is verified.
    told: BTreeSet<String>,
}

impl KnownHosts {
    /// Reads the file, if there is one.
    pub(super) fn read(path: PathBuf) -> anyhow::Result<Self> {
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        Ok(Self { path, text, told: BTreeSet::new() })
    }

    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if a key of the machine is in it.
    pub(super) fn has(&self, machine: &str) -> bool {
        self.text.lines().any(|line| is_of(line, machine))
    }

    /// Returns true if the machine has told its keys.
    pub(super) fn has_told(&self, machine: &str) -> bool {
        self.told.contains(machine)
    }

    /// Replaces the keys of a machine by those that it has told. Returns false, and changes nothing, if it has told none.
    pub(super) fn tell(&mut self, machine: &str, keys: &[String]) -> anyhow::Result<bool> {
        let lines: Vec<String> = keys.iter().filter_map(|key| line(machine, key)).collect();
        if lines.is_empty() {
            return Ok(false);
        }
        let kept = self.text.lines().filter(|line| !is_of(line, machine)).map(|line| format!("{line}\n"));
        let text: String = kept.chain(lines).collect();
        if text != self.text {
            write(&self.path, &text, Access::Private)
                .with_context(|| format!("cannot write {}", self.path.display()))?;
            self.text = text;
        }
        Ok(self.told.insert(machine.to_owned()))
    }
}

fn is_of(line: &str, machine: &str) -> bool {
    line.split_whitespace().next() == Some(machine)
}

/// The line of a key; none if it is no key.
fn line(machine: &str, key: &str) -> Option<String> {
    let mut words = key.split_whitespace();
    let (kind, key) = (words.next()?, words.next()?);
    let is_base64 = key.chars().all(|letter| letter.is_ascii_alphanumeric() || "+/=".contains(letter));
    (KINDS.contains(&kind) && is_base64).then(|| format!("{machine} {kind} {key}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_tells_takes_the_place_of_what_it_showed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("known_hosts");
        std::fs::write(&path, "demo-bootstrap ssh-rsa AAAA1\ndemo-master-0 ssh-rsa AAAA2\n").unwrap();
        let mut known = KnownHosts::read(path.clone()).unwrap();
        assert!(known.has("demo-bootstrap") && !known.has_told("demo-bootstrap"));
        assert!(!known.tell("demo-bootstrap", &["@cert-authority * ssh-rsa AAAA".to_owned()]).unwrap());
        assert!(!known.has_told("demo-bootstrap"));
        let keys = ["ssh-ed25519 AAAA3 root@here".to_owned(), "ssh-ed25519 AA\"A".to_owned()];
        assert!(known.tell("demo-bootstrap", &keys).unwrap());
        assert!(known.has_told("demo-bootstrap") && !known.has_told("demo-master-0"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "demo-master-0 ssh-rsa AAAA2\ndemo-bootstrap ssh-ed25519 AAAA3\n");
    }
}
