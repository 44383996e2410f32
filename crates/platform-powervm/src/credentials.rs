//! Users and passwords of the servers: from a file, never from the install-config.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use landfall_config::powervm::Host;
use landfall_platform::Environment;
use landfall_wire::{EditError, Limits, Trust};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::{
    Client, Error,
    client::{ConsoleUrl, Login},
};

/// Users and passwords of servers. What is said for all of them holds for those of which nothing else is said.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    #[serde(flatten)]
    all: Access,
    #[serde(default)]
    hosts: BTreeMap<String, Access>,
}

/// How one gets into a server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Access {
    /// Where it is; the install-config says so too, unless it is lost.
    address: Option<String>,
    user: Option<String>,
    password: Option<SecretString>,
    ca_bundle: Option<String>,
    insecure: Option<bool>,
}

/// The keys that are written into the file; whatever it says about them is replaced.
const KEYS: [&str; 4] = ["user", "password", "ca_bundle", "insecure"];

#[derive(Serialize)]
struct Written<'a> {
    user: &'a str,
    password: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ca_bundle: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    insecure: bool,
}

impl Credentials {
    /// The file that holds them.
    pub fn path(environment: &Environment) -> Result<PathBuf, Error> {
        let given = environment.get("POWERVM_CONFIG").map(PathBuf::from);
        given.or_else(|| Some(environment.home()?.join(".powervm/config.yaml"))).ok_or(Error::NoHome)
    }

    /// Reads them.
    pub fn read(environment: &Environment) -> Result<Self, Error> {
        let path = Self::path(environment)?;
        Self::read_if_there(environment)?.ok_or(Error::NoCredentials { path })
    }

    /// Reads them, if there are any.
    pub fn read_if_there(environment: &Environment) -> Result<Option<Self>, Error> {
        let path = Self::path(environment)?;
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map(Some).map_err(|reason| Error::Credentials { path, reason }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::File { path, source }),
        }
    }

    /// Reads them from text. What is wrong never quotes it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let usual = "it must be YAML with user and password, and if need be ca_bundle or insecure, for all servers or below \
                     'hosts' and the name of one";
        serde_saphyr::from_str(text).map_err(|_| usual.to_owned())
    }

    /// The same user and password for all servers.
    pub fn of_user(user: String, password: SecretString, trust: &Trust) -> Self {
        let (ca_bundle, insecure) = match trust {
            Trust::System => (None, None),
            Trust::Only(bundle) => (Some(bundle.clone()), None),
            Trust::Unverified => (None, Some(true)),
        };
        let all = Access { address: None, user: Some(user), password: Some(password), ca_bundle, insecure };
        Self { all, hosts: BTreeMap::new() }
    }

    /// The servers of which the file itself says where they are.
    pub fn hosts(&self) -> Vec<Host> {
        let known = self.hosts.iter().filter_map(|(name, access)| Some((name, access.address.as_ref()?)));
        known.map(|(name, address)| Host { name: name.clone(), address: address.clone() }).collect()
    }

    /// All passwords, so that none is shown.
    pub fn secrets(&self) -> Vec<SecretString> {
        std::iter::once(&self.all).chain(self.hosts.values()).filter_map(|access| access.password.clone()).collect()
    }

    /// A client for a server.
    pub fn client(&self, host: &Host) -> Result<Arc<Client>, Error> {
        let access = self.access(&host.name);
        let lacks = |field| Error::Incomplete { host: host.name.clone(), field };
        let user = access.user.ok_or_else(|| lacks("user"))?;
        let password = access.password.ok_or_else(|| lacks("password"))?;
        let trust = match (access.insecure, access.ca_bundle) {
            (Some(true), _) => Trust::Unverified,
            (_, Some(bundle)) => Trust::Only(bundle),
            (_, None) => Trust::System,
        };
        let console = ConsoleUrl::parse(&host.address)?;
        let client = Client::new(console, &trust, Limits::default(), Login::Password { user, password })?;
        Ok(Arc::new(client))
    }

    /// What holds for a server.
    fn access(&self, name: &str) -> Access {
        let own = self.hosts.get(name).cloned().unwrap_or_default();
        let all = self.all.clone();
        Access {
            address: own.address,
            user: own.user.or(all.user),
            password: own.password.or(all.password),
            // Who says something about trust says all of it.
            ca_bundle: if own.insecure.is_some() { own.ca_bundle } else { own.ca_bundle.or(all.ca_bundle) },
            insecure: own.insecure.or(all.insecure),
        }
    }

    /// What the machine controller needs for these servers, as the text of the key `hosts` of its Secret.
    pub fn for_controller(&self, hosts: &[Host]) -> Result<String, Error> {
        let entries = hosts.iter().map(|host| {
            let access = self.access(&host.name);
            let lacks = |field| Error::Incomplete { host: host.name.clone(), field };
            let user = access.user.ok_or_else(|| lacks("user"))?;
            let password = access.password.ok_or_else(|| lacks("password"))?;
            let entry = serde_json::json!({
                "address": host.address,
                "user": user,
                "password": password.expose_secret(),
                "ca_bundle": access.ca_bundle,
                "insecure": access.insecure,
            });
            Ok((host.name.clone(), entry))
        });
        let entries: serde_json::Map<String, serde_json::Value> = entries.collect::<Result<_, Error>>()?;
        Ok(serde_json::json!({ "hosts": entries }).to_string())
    }

    /// Writes user and password for all servers into a file: whole or not at all, readable by the owner only. What it says about
    /// single servers is kept as it is.
    pub fn write(path: &Path, user: &str, password: &SecretString, trust: &Trust) -> Result<(), Error> {
        let unusable = |reason: &str| Error::Credentials { path: path.to_owned(), reason: reason.to_owned() };
        let ca_bundle = match trust {
            Trust::Only(bundle) => Some(bundle.as_str()),
            Trust::System | Trust::Unverified => None,
        };
        let insecure = *trust == Trust::Unverified;
        let written = Written { user, password: password.expose_secret(), ca_bundle, insecure };
        let new = serde_saphyr::to_string(&written);
        let new = new.map_err(|_| unusable("the credentials cannot be written as YAML"))?;
        landfall_wire::replace_keys(path, &KEYS, &new).map_err(|error| match error {
            EditError::File(source) => Error::File { path: path.to_owned(), source },
            EditError::Format(reason) => unusable(reason),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &str =
        "user: admin\npassword: all\nca_bundle: PEM\nhosts:\n  b: {address: 'b:1', password: own, insecure: true}\n";

    #[test]
    fn a_server_has_its_own_or_what_all_have() {
        let both = Credentials::parse(BOTH).unwrap();
        let (a, b) = (both.access("a"), both.access("b"));
        assert_eq!((a.user.as_deref(), a.ca_bundle.as_deref(), a.insecure), (Some("admin"), Some("PEM"), None));
        assert_eq!(b.password.unwrap().expose_secret(), "own");
        assert_eq!((b.user.as_deref(), b.ca_bundle, b.insecure), (Some("admin"), None, Some(true)));
        assert_eq!(both.hosts(), [Host { name: "b".to_owned(), address: "b:1".to_owned() }]);
        assert_eq!(both.secrets().len(), 2);
    }

    #[test]
    fn what_the_controller_gets_is_read_back() {
        let both = Credentials::parse(BOTH).unwrap();
        let hosts =
            [("a", "a:1"), ("b", "b:1")].map(|(name, address)| Host { name: name.into(), address: address.into() });
        let read = Credentials::parse(&both.for_controller(&hosts).unwrap()).unwrap();
        assert_eq!(read.hosts(), hosts);
        assert!(read.client(&hosts[0]).is_err(), "PEM is no certificate, and nothing else is trusted");
        assert!(read.client(&hosts[1]).is_ok());
    }

    #[test]
    fn what_is_wrong_is_said_without_quoting_it() {
        let wrong = Credentials::parse("user: a\npassword: [hunter2]").unwrap_err();
        assert!(!wrong.contains("hunter2"), "{wrong}");
        let nobody = Credentials::parse("hosts: {}").unwrap();
        let host = Host { name: "a".to_owned(), address: "a".to_owned() };
        assert_eq!(
            nobody.client(&host).unwrap_err().to_string(),
            "there is no user for server a in the credentials file"
        );
    }
}
