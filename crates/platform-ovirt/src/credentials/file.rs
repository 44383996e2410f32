//! Finding, reading and writing the credentials file.

use std::path::{Path, PathBuf};

use landfall_platform::Environment;
use landfall_wire::{EditError, Trust};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::{Credentials, written};
use crate::{Error, client::EngineUrl};

/// The credentials file: `$OVIRT_CONFIG`, or `~/.ovirt/ovirt-config.yaml`.
#[derive(Clone, Debug)]
pub struct CredentialsFile {
    path: PathBuf,
}

/// What is in it. Other tools and people write it too, so everything may be missing or empty.
#[derive(Default, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_field_names, reason = "the names are the file's keys")]
struct Contents {
    ovirt_url: Option<String>,
    ovirt_fqdn: Option<String>,
    ovirt_username: Option<String>,
    ovirt_password: Option<SecretString>,
    ovirt_cafile: Option<PathBuf>,
    ovirt_ca_bundle: Option<String>,
    ovirt_insecure: Option<bool>,
}

impl CredentialsFile {
    /// Where the file is or will be.
    pub fn locate(environment: &Environment) -> Result<Self, Error> {
        let path = match (environment.get("OVIRT_CONFIG"), environment.home()) {
            (Some(path), _) => PathBuf::from(path),
            (None, Some(home)) => home.join(".ovirt").join("ovirt-config.yaml"),
            (None, None) => return Err(Error::NoHome),
        };
        Ok(Self { path })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the credentials.
    pub fn read(&self) -> Result<Credentials, Error> {
        self.credentials(parse(&self.path, &self.text()?)?)
    }

    /// Reads the credentials as the playbooks of a kit do: each part from its variable (`OVIRT_URL`, `OVIRT_USERNAME`,
    /// `OVIRT_PASSWORD`, `OVIRT_CAFILE`) if that is set, else from the file. Nobody needs a file who has the variables.
    pub fn read_under(&self, environment: &Environment) -> Result<Credentials, Error> {
        let text = |name: &str| environment.get(name).and_then(|value| value.to_str()).map(str::to_owned);
        let (url, user, password) = (text("OVIRT_URL"), text("OVIRT_USERNAME"), text("OVIRT_PASSWORD"));
        let file = if url.is_some() && user.is_some() && password.is_some() && !self.path.exists() {
            Contents::default()
        } else {
            parse(&self.path, &self.text()?)?
        };
        let authority = text("OVIRT_CAFILE").map(PathBuf::from);
        self.credentials(Contents {
            ovirt_url: url.or(file.ovirt_url),
            ovirt_username: user.or(file.ovirt_username),
            ovirt_password: password.map(SecretString::from).or(file.ovirt_password),
            ovirt_ca_bundle: if authority.is_some() { None } else { file.ovirt_ca_bundle },
            ovirt_cafile: authority.or(file.ovirt_cafile),
            ..file
        })
    }

    fn credentials(&self, contents: Contents) -> Result<Credentials, Error> {
        let Contents {
            ovirt_url,
            ovirt_fqdn,
            ovirt_username,
            ovirt_password,
            ovirt_cafile,
            ovirt_ca_bundle,
            ovirt_insecure,
        } = contents;
        let lacking = |key| Error::Incomplete { path: self.path.clone(), key };
        let engine = filled(ovirt_url).or(filled(ovirt_fqdn)).ok_or_else(|| lacking("ovirt_url"))?;
        let engine: EngineUrl = engine.parse()?;
        let user = filled(ovirt_username).ok_or_else(|| lacking("ovirt_username"))?;
        let password = ovirt_password
            .filter(|password| !password.expose_secret().is_empty())
            .ok_or_else(|| lacking("ovirt_password"))?;
        let trust = if ovirt_insecure == Some(true) {
            Trust::Unverified
        } else if let Some(bundle) = filled(ovirt_ca_bundle) {
            Trust::Only(bundle)
        } else if let Some(path) = ovirt_cafile.filter(|path| !path.as_os_str().is_empty()) {
            let bundle = std::fs::read_to_string(&path);
            Trust::Only(bundle.map_err(|source| Error::File { attempt: "reading", path, source })?)
        } else {
            Trust::System
        };
        Ok(Credentials { engine, user, password, trust })
    }

    /// Reads the credentials if the file is there. One that lacks something counts as not there: it is completed later.
    pub fn read_if_complete(&self) -> Result<Option<Credentials>, Error> {
        match self.read() {
            Ok(credentials) => Ok(Some(credentials)),
            Err(Error::Incomplete { .. }) => Ok(None),
            Err(Error::File { path, source, .. })
                if path == self.path && source.kind() == std::io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// A warning, if others than the owner may read the file.
    pub fn exposure(&self) -> Option<String> {
        landfall_wire::exposure(&self.path)
    }

    /// Writes the credentials: whole or not at all, readable by the owner only. Keys of others are kept as they are.
    pub fn write(&self, credentials: &Credentials) -> Result<(), Error> {
        let unusable = |reason: &str| Error::Format { path: self.path.clone(), reason: reason.to_owned() };
        let new = written::render(credentials).map_err(|_| unusable("the credentials cannot be written as YAML"))?;
        landfall_wire::replace_keys(&self.path, &written::KEYS, &new).map_err(|error| match error {
            EditError::File(source) => Error::File { attempt: "writing", path: self.path.clone(), source },
            EditError::Format(reason) => unusable(reason),
        })
    }

    fn text(&self) -> Result<String, Error> {
        std::fs::read_to_string(&self.path).map_err(|source| Error::File {
            attempt: "reading",
            path: self.path.clone(),
            source,
        })
    }
}

fn parse(path: &Path, text: &str) -> Result<Contents, Error> {
    if text.trim().is_empty() {
        return Ok(Contents::default());
    }
    let contents: Result<Option<Contents>, _> = serde_saphyr::from_str(text);
    // The snippet that the parser would add shows the lines around the mistake, and one of them may be the password.
    let reason = |error: serde_saphyr::Error| error.without_snippet().to_string();
    Ok(contents.map_err(|error| Error::Format { path: path.to_owned(), reason: reason(error) })?.unwrap_or_default())
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn environment(variables: &[(&str, &Path)]) -> Environment {
        variables.iter().map(|(name, value)| (*name, value.as_os_str())).collect()
    }

    fn file(path: &Path) -> CredentialsFile {
        CredentialsFile::locate(&environment(&[("OVIRT_CONFIG", path), ("HOME", Path::new("/nonexistent"))])).unwrap()
    }

    fn credentials() -> Credentials {
        Credentials {
            engine: "engine.example.com".parse().unwrap(),
            user: "admin@internal".to_owned(),
            password: "secret".into(),
            trust: Trust::System,
        }
    }

    #[test]
    fn the_variable_goes_before_the_home_directory() {
        let home = Path::new("/home/me");
        let at = |variables: &[(&str, &Path)]| CredentialsFile::locate(&environment(variables)).map(|file| file.path);
        assert_eq!(at(&[("HOME", home)]).unwrap(), home.join(".ovirt/ovirt-config.yaml"));
        assert_eq!(
            at(&[("HOME", home), ("OVIRT_CONFIG", Path::new("/etc/o.yaml"))]).unwrap(),
            Path::new("/etc/o.yaml")
        );
        assert_eq!(
            at(&[("HOME", home), ("OVIRT_CONFIG", Path::new(""))]).unwrap(),
            home.join(".ovirt/ovirt-config.yaml")
        );
        assert!(matches!(at(&[]), Err(Error::NoHome)));
        assert!(matches!(at(&[("HOME", Path::new(""))]), Err(Error::NoHome)));
    }

    #[test]
    fn variables_go_before_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let (path, bundle) = (directory.path().join("ovirt.yaml"), directory.path().join("ca.pem"));
        std::fs::write(&bundle, "PEM").unwrap();
        let whole = [
            ("OVIRT_URL", Path::new("https://other.example.com/ovirt-engine/api")),
            ("OVIRT_USERNAME", Path::new("me@internal")),
            ("OVIRT_PASSWORD", Path::new("mine")),
            ("OVIRT_CAFILE", &bundle),
        ];
        // Whoever has all of them needs no file.
        let read = file(&path).read_under(&environment(&whole)).unwrap();
        assert_eq!((read.user.as_str(), read.password.expose_secret()), ("me@internal", "mine"));
        assert_eq!((read.engine.host(), read.trust), ("other.example.com".to_owned(), Trust::Only("PEM".to_owned())));
        assert!(matches!(file(&path).read_under(&environment(&whole[..2])), Err(Error::File { .. })));
        let text = "ovirt_url: engine.example.com\novirt_username: admin@internal\novirt_password: secret\novirt_ca_bundle: A\n";
        std::fs::write(&path, text).unwrap();
        let read = file(&path).read_under(&environment(&whole[2..3])).unwrap();
        assert_eq!((read.user.as_str(), read.password.expose_secret()), ("admin@internal", "mine"));
        assert_eq!(read.trust, Trust::Only("A".to_owned()));
        let read = file(&path).read_under(&environment(&whole[3..])).unwrap();
        assert_eq!(read.trust, Trust::Only("PEM".to_owned()));
    }

    #[test]
    fn a_file_that_is_not_there_or_not_complete_is_no_failure() {
        let directory = tempfile::tempdir().unwrap();
        let file = file(&directory.path().join("ovirt.yaml"));
        assert!(file.read_if_complete().unwrap().is_none());
        for text in [
            "",
            "# nothing\n",
            "ovirt_url: engine.example.com\n",
            "ovirt_url: e\novirt_username: u\novirt_password: ''\n",
        ] {
            std::fs::write(&file.path, text).unwrap();
            assert!(file.read_if_complete().unwrap().is_none(), "{text}");
        }
        assert!(matches!(file.read(), Err(Error::Incomplete { key: "ovirt_password", .. })));
    }

    #[test]
    fn a_damaged_file_is_reported_without_its_contents() {
        let directory = tempfile::tempdir().unwrap();
        let file = file(&directory.path().join("ovirt.yaml"));
        for text in
            ["ovirt_password: hunter2\novirt_url: [", "- hunter2\n", "ovirt_password: hunter2\novirt_insecure: maybe\n"]
        {
            std::fs::write(&file.path, text).unwrap();
            let error = file.read_if_complete().unwrap_err();
            assert!(matches!(error, Error::Format { .. }), "{error:?}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[test]
    fn whom_to_trust_is_read_in_all_its_spellings() {
        let directory = tempfile::tempdir().unwrap();
        let file = file(&directory.path().join("ovirt.yaml"));
        let bundle = directory.path().join("ca.pem");
        std::fs::write(&bundle, "PEM").unwrap();
        let base = "ovirt_fqdn: engine.example.com\novirt_username: admin@internal\novirt_password: secret\n";
        for (more, trust) in [
            (String::new(), Trust::System),
            ("ovirt_insecure: false\novirt_cafile: ''\novirt_ca_bundle: ''\n".to_owned(), Trust::System),
            ("ovirt_insecure: true\n".to_owned(), Trust::Unverified),
            ("ovirt_ca_bundle: |-\n  A\n  B\n".to_owned(), Trust::Only("A\nB".to_owned())),
            (format!("ovirt_cafile: {}\n", bundle.display()), Trust::Only("PEM".to_owned())),
        ] {
            std::fs::write(&file.path, format!("{base}{more}")).unwrap();
            assert_eq!(file.read().unwrap().trust, trust, "{more}");
        }
        std::fs::write(&file.path, format!("{base}ovirt_cafile: /nonexistent/ca.pem\n")).unwrap();
        let error = file.read_if_complete().unwrap_err();
        assert!(matches!(&error, Error::File { path, .. } if path == Path::new("/nonexistent/ca.pem")), "{error:?}");
    }

    #[test]
    fn only_the_owner_may_read_what_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let file = file(&directory.path().join("new/deeper/ovirt.yaml"));
        file.write(&credentials()).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file.path), 0o600);
        assert_eq!(mode(&directory.path().join("new")), 0o700);
        assert_eq!(file.exposure(), None);
        std::fs::set_permissions(&file.path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(file.exposure().unwrap().contains("0640"));
        file.write(&credentials()).unwrap();
        assert_eq!(mode(&file.path), 0o600);
        assert_eq!(std::fs::read_dir(file.path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
    }

    fn read_back(user: &str, password: &str, trust: &Trust) -> Credentials {
        let directory = tempfile::tempdir().unwrap();
        let file = file(&directory.path().join("ovirt.yaml"));
        std::fs::write(&file.path, "other: 1\n").unwrap();
        let (user, password) = (user.to_owned(), password.into());
        file.write(&Credentials { user, password, trust: trust.clone(), ..credentials() }).unwrap();
        file.read().unwrap()
    }

    #[test]
    fn what_yaml_would_take_for_something_else_is_read_back() {
        for password in
            ["yes", "null", "~", "0123", "1e3", "0x1f", " a ", "a: b", "- a", "#", "'", "\"", "{", "|", "\t", "\\", "…"]
        {
            let back = read_back("admin@internal", password, &Trust::System);
            assert_eq!(back.password.expose_secret(), password);
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(user in "\\PC{1,20}", password in "\\PC{1,40}", bundle in "[ -~]{1,9}(\n[ -~]{0,9}){0,3}") {
            proptest::prop_assume!(!user.trim().is_empty() && !bundle.trim().is_empty());
            let trust = Trust::Only(bundle);
            let back = read_back(&user, &password, &trust);
            proptest::prop_assert_eq!((&back.user, back.password.expose_secret(), &back.trust), (&user, password.as_str(), &trust));
        }
    }

    #[test]
    fn a_symlink_stays_one() {
        let directory = tempfile::tempdir().unwrap();
        let (link, target) = (directory.path().join("ovirt.yaml"), directory.path().join("dotfiles.yaml"));
        std::fs::write(&target, "other: 1\n").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        file(&link).write(&credentials()).unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert!(std::fs::read_to_string(&target).unwrap().starts_with("other: 1\n"));
    }

    #[test]
    fn a_failed_write_leaves_the_file_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let file = file(&directory.path().join("ovirt.yaml"));
        std::fs::write(&file.path, "{other: 1}\n").unwrap();
        assert!(matches!(file.write(&credentials()), Err(Error::Format { .. })));
        assert_eq!(std::fs::read_to_string(&file.path).unwrap(), "{other: 1}\n");
    }
}
