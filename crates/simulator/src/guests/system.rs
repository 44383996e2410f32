//! An installed operating system: the files and units that Ignition put in place, and what was written since.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::ignition::{Content, Document, Unit};
use super::kube::Store;

/// What is on a machine's disk.
#[derive(Debug, Default)]
pub(super) struct System {
    /// What Ignition was given; later ones win.
    documents: Vec<Arc<Document>>,
    /// Files that the machine itself wrote.
    written: Mutex<BTreeMap<String, String>>,
    /// The cluster's objects, if the machine holds a copy of them: what is in `/var/lib/etcd`.
    etcd: Mutex<Option<Arc<Store>>>,
}

/// A program that systemd starts at boot, as far as its unit tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Service {
    /// The program's file name, for example `landfall-node`.
    pub(super) program: String,
    /// Its first argument, or nothing.
    pub(super) command: String,
    /// Its other arguments.
    pub(super) arguments: Vec<String>,
}

impl System {
    /// A system as Ignition leaves it.
    pub(super) fn install(documents: Vec<Arc<Document>>) -> Self {
        Self { documents, ..Self::default() }
    }

    /// A system as it was found in a state file.
    pub(super) fn restore(
        documents: Vec<Arc<Document>>,
        written: BTreeMap<String, String>,
        etcd: Option<Arc<Store>>,
    ) -> Self {
        Self { documents, written: Mutex::new(written), etcd: Mutex::new(etcd) }
    }

    pub(super) fn documents(&self) -> &[Arc<Document>] {
        &self.documents
    }

    pub(super) fn written(&self) -> BTreeMap<String, String> {
        self.lock().clone()
    }

    /// The contents of a file; `None` if it is not there, or would have to be downloaded.
    pub(super) fn file(&self, path: &str) -> Option<Vec<u8>> {
        if let Some(contents) = self.lock().get(path) {
            return Some(contents.clone().into_bytes());
        }
        let entries = || self.documents.iter().filter_map(|document| document.files.get(path));
        let contents = entries().rev().find_map(|entry| entry.contents.as_ref());
        let mut bytes = match contents {
            Some(Content::Inline(bytes)) => bytes.clone(),
            Some(Content::Remote(_)) => return None,
            None => Vec::new(),
        };
        for content in entries().flat_map(|entry| &entry.append) {
            if let Content::Inline(more) = content {
                bytes.extend_from_slice(more);
            }
        }
        (contents.is_some() || entries().next().is_some()).then_some(bytes)
    }

    /// A file's contents as text, or why there is none, for the console.
    pub(super) fn text(&self, path: &str) -> Result<String, String> {
        let bytes = self.file(path).ok_or_else(|| format!("there is no {path}"))?;
        String::from_utf8(bytes).map_err(|_| format!("{path} is not text"))
    }

    /// The files directly in a directory, by name.
    pub(super) fn directory(&self, path: &str) -> Vec<(String, Vec<u8>)> {
        let prefix = format!("{}/", path.trim_end_matches('/'));
        let known = self.documents.iter().flat_map(|document| document.files.keys());
        let mut names: BTreeSet<String> = known.cloned().collect();
        names.extend(self.lock().keys().cloned());
        let inside =
            names.into_iter().filter(|name| name.strip_prefix(&prefix).is_some_and(|name| !name.contains('/')));
        inside.filter_map(|name| Some((name.clone(), self.file(&name)?))).collect()
    }

    /// URLs that files are to be downloaded from.
    pub(super) fn downloads(&self) -> Vec<String> {
        let entries = self.documents.iter().flat_map(|document| document.files.values());
        let contents = entries.flat_map(|entry| entry.contents.iter().chain(&entry.append));
        contents
            .filter_map(|content| match content {
                Content::Remote(url) => Some(url.clone()),
                Content::Inline(_) => None,
            })
            .collect()
    }

    pub(super) fn write(&self, path: &str, contents: impl Into<String>) {
        self.lock().insert(path.to_owned(), contents.into());
    }

    /// Removes a file that the machine itself wrote.
    pub(super) fn remove(&self, path: &str) {
        self.lock().remove(path);
    }

    pub(super) fn etcd(&self) -> Option<Arc<Store>> {
        self.etcd.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_etcd(&self, store: Option<Arc<Store>>) {
        *self.etcd.lock().unwrap_or_else(PoisonError::into_inner) = store;
    }

    /// What systemd starts at boot: units that are enabled, say by whom they are wanted, and whose condition holds.
    pub(super) fn services(&self) -> Vec<Service> {
        self.units().iter().filter_map(|unit| self.service(unit)).collect()
    }

    fn units(&self) -> Vec<Unit> {
        let mut merged: BTreeMap<String, Unit> = BTreeMap::new();
        for unit in self.documents.iter().flat_map(|document| &document.units) {
            let known = merged.entry(unit.name.clone()).or_default();
            known.contents = unit.contents.clone().or(known.contents.take());
            known.enabled = unit.enabled.or(known.enabled);
            known.mask = unit.mask.or(known.mask);
            for dropin in &unit.dropins {
                known.dropins.retain(|other| other.name != dropin.name);
                known.dropins.push(dropin.clone());
            }
        }
        merged.into_values().collect()
    }

    fn service(&self, unit: &Unit) -> Option<Service> {
        if unit.enabled != Some(true) || unit.mask == Some(true) {
            return None;
        }
        let texts = unit.contents.iter().chain(unit.dropins.iter().filter_map(|dropin| dropin.contents.as_ref()));
        let lines: Vec<&str> = texts.flat_map(|text| text.lines()).collect();
        let setting =
            |name: &'static str| lines.iter().filter_map(move |line| line.strip_prefix(name)?.strip_prefix('='));
        let wanted = ["WantedBy", "RequiredBy"].iter().any(|name| setting(name).next().is_some());
        let holds = |condition: &str| match condition.strip_prefix('!') {
            Some(path) => self.file(path).is_none(),
            None => self.file(condition).is_some(),
        };
        if !wanted || !setting("ConditionPathExists").all(holds) {
            return None;
        }
        // An empty setting in a drop-in takes back those before it, so the last one counts.
        let mut words = setting("ExecStart").next_back()?.split_whitespace();
        let program = words.next()?.trim_start_matches(['-', '@', ':', '+', '!']).rsplit('/').next()?.to_owned();
        let command = words.next().unwrap_or_default().to_owned();
        Some(Service { program, command, arguments: words.map(str::to_owned).collect() })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, String>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::ignition::Library;
    use super::*;

    fn system(configs: &[(Value, Value)]) -> System {
        let library = Library::default();
        let documents = configs.iter().map(|(files, units)| {
            let json = json!({
                "ignition": { "version": "3.3.0" },
                "storage": { "files": files },
                "systemd": { "units": units },
            });
            library.read(&json.to_string()).unwrap()
        });
        System::install(documents.collect())
    }

    #[test]
    fn the_last_config_wins_and_appends_add_up() {
        let system = system(&[
            (
                json!([
                    { "path": "/a", "contents": { "source": "data:,parent" }, "append": [{ "source": "data:,1" }] },
                    { "path": "/b", "contents": { "source": "data:,parent" } },
                ]),
                json!([]),
            ),
            (
                json!([
                    { "path": "/a", "contents": { "source": "data:,child" }, "append": [{ "source": "data:,2" }] },
                    { "path": "/d/x", "contents": { "source": "data:,x" } },
                    { "path": "/d/e/y", "contents": { "source": "data:,y" } },
                    { "path": "/far", "contents": { "source": "https://example.com/" } },
                ]),
                json!([]),
            ),
        ]);
        assert_eq!(system.text("/a").unwrap(), "child12");
        assert_eq!(system.text("/b").unwrap(), "parent");
        assert_eq!(system.text("/far").unwrap_err(), "there is no /far");
        assert_eq!(system.directory("/d"), [("/d/x".to_owned(), b"x".to_vec())]);
        assert_eq!(system.downloads(), ["https://example.com/"]);
        system.write("/a", "own");
        assert_eq!(system.text("/a").unwrap(), "own");
    }

    #[test]
    fn only_what_is_enabled_wanted_and_meets_its_condition_starts() {
        let unit = |exec: &str| format!("[Service]\nExecStart={exec}\n[Install]\nWantedBy=multi-user.target\n");
        let conditional = format!("[Unit]\nConditionPathExists=!/done\n{}", unit("/bin/once go"));
        let units = json!([
            { "name": "a.service", "enabled": true, "contents": unit("/usr/bin/landfall-node join --now") },
            { "name": "b.service", "enabled": false, "contents": unit("/b") },
            { "name": "c.service", "contents": unit("/c") },
            { "name": "d.service", "enabled": true, "mask": true, "contents": unit("/d") },
            { "name": "e.service", "enabled": true, "contents": "[Service]\nExecStart=/e\n" },
            { "name": "f.service", "enabled": true, "contents": conditional },
            { "name": "g.service", "enabled": true, "contents": unit("/g"), "dropins": [
                { "name": "x.conf", "contents": "[Service]\nExecStart=\nExecStart=/opt/bin/kubelet $ARGS\n" },
            ] },
        ]);
        let system = system(&[(json!([]), units), (json!([]), json!([{ "name": "c.service", "enabled": true }]))]);
        let started = || {
            let services = system.services().into_iter();
            services.map(|service| format!("{} {}", service.program, service.command)).collect::<Vec<_>>()
        };
        assert_eq!(started(), ["landfall-node join", "c ", "once go", "kubelet $ARGS"]);
        system.write("/done", "");
        assert_eq!(started(), ["landfall-node join", "c ", "kubelet $ARGS"]);
    }
}
