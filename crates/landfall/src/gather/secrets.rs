//! Secrets that a log may hold: those of the install directory, and those in the environment.

use std::{
    fs,
    path::{Path, PathBuf},
};

use landfall_platform::Environment;

use super::documents::Found;

/// Variables that hold a secret, or a URL with one.
const VARIABLES: [&str; 21] = [
    "ALL_PROXY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "BLUEMIX_API_KEY",
    "BM_API_KEY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "IBMCLOUD_API_KEY",
    "IBMCLOUD_HMAC_SECRET_ACCESS_KEY",
    "IC_API_KEY",
    "METAL_AUTH_TOKEN",
    "OVIRT_PASSWORD",
    "OVIRT_URL",
    "PACKET_AUTH_TOKEN",
    "POWERVM_PASSWORD",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NO_PROXY",
    "METAL_API_URL",
];
/// Variables that name a file of credentials, and where the file is if they do not.
const FILES: [(&str, &str); 6] = [
    ("AWS_CONFIG_FILE", ".aws/config"),
    ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
    ("OVIRT_CONFIG", ".ovirt/ovirt-config.yaml"),
    ("PACKET_CONFIG", ".packet/packet-config.yaml"),
    ("POWERVM_CONFIG", ".powervm/config.yaml"),
    ("POWERVS_AUTH_FILEPATH", ".powervs/config.json"),
];
/// Larger files are disk images and archives.
const LARGEST: u64 = 64 << 20;
/// How deep an install directory is: `.landfall/past/<infra id>/frozen/…`.
const DEEPEST: usize = 12;

impl Found {
    /// Looks through the environment.
    pub(super) fn environment(&mut self, environment: &Environment) {
        for name in VARIABLES {
            let Some(value) = environment.get(name).and_then(|value| value.to_str()) else { continue };
            if value.contains("://") || name.to_ascii_lowercase().ends_with("proxy") {
                // A proxy may be written without its scheme.
                self.look(value);
                self.look(&format!("http://{value}"));
            } else {
                self.add(value);
            }
        }
        for (name, usual) in FILES {
            let path = environment.get(name).map(PathBuf::from);
            let path = path.or_else(|| environment.home().map(|home| home.join(usual)));
            if let Some(text) = path.and_then(|path| read(&path)) {
                self.look(&text);
            }
        }
    }

    /// Looks through all files of an install directory, those of clusters of the past and copies of what machines were given too, and through
    /// the files outside of it that its documents name.
    pub(super) fn directory(&mut self, root: &Path) {
        self.files_below(root, root, 0);
        for file in std::mem::take(&mut self.files) {
            if let Some(text) = read(&root.join(file)) {
                self.add(&text);
                self.look(&text);
            }
        }
    }

    fn files_below(&mut self, root: &Path, directory: &Path, depth: usize) {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        for entry in entries {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEEPEST => self.files_below(root, &path, depth + 1),
                Ok(kind) if kind.is_file() => self.file(root, &path),
                _ => {}
            }
        }
    }

    fn file(&mut self, root: &Path, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(text) = (!is_output(&name)).then(|| read(path)).flatten() else { return };
        let relative = path.strip_prefix(root).unwrap_or(path);
        let is_secret = relative.starts_with(".landfall")
            && relative.parent().is_some_and(|parent| parent.file_name().is_some_and(|name| name == "secrets"));
        // The state of OpenShift's installer holds everything else too.
        if is_secret && !name.contains("openshift") {
            match serde_json::from_str(&text) {
                Ok(value) => self.add_all(&value),
                Err(_) if !text.contains("-----BEGIN") => text.lines().for_each(|line| self.add(line)),
                Err(_) => {}
            }
        }
        if name == "kubeadmin-password" {
            self.add(&text);
        }
        self.look(&text);
    }
}

/// Files that hold no secrets of their own: what Landfall says.
fn is_output(name: &str) -> bool {
    name.starts_with("landfall.log") || name.starts_with("journal.sqlite") || name.ends_with(".tar.gz")
}

/// A text file; none if it is not one, or cannot be read: others are looked through all the same.
fn read(path: &Path) -> Option<String> {
    fs::metadata(path).ok().filter(|metadata| metadata.is_file() && metadata.len() <= LARGEST)?;
    fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_the_environment_are_known() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".aws")).unwrap();
        fs::write(home.path().join(".aws/credentials"), "[default]\naws_secret_access_key = hunter2-a\n").unwrap();
        let file = home.path().join("powervm.yaml");
        fs::write(&file, "hosts: [{name: a, user: eve, password: hunter2-b}]\n").unwrap();
        let environment: Environment = [
            ("HOME", home.path().to_str().unwrap()),
            ("POWERVM_CONFIG", file.to_str().unwrap()),
            ("METAL_AUTH_TOKEN", "hunter2-c"),
            ("https_proxy", "eve:hunter2-d@proxy:3128"),
            ("HTTP_PROXY", "http://eve:hunter2-e@proxy:3128"),
        ]
        .into_iter()
        .collect();
        let mut found = Found::default();
        found.environment(&environment);
        for letter in ["a", "b", "c", "d", "e"] {
            assert!(found.secrets.contains(&format!("hunter2-{letter}")), "{letter}: {:?}", found.secrets);
        }
    }
}
