//! Secrets as files, readable only by their owner.

use std::fmt::Display;

use landfall_platform::{File, FileSet};

use super::{Secrets, Tokens};
use crate::{
    Error,
    pki::{Authority, PrivateKey},
};

const DIRECTORY: &str = ".landfall/secrets";
const TOKENS: &str = "tokens.json";

impl Secrets {
    /// All secrets as files below `.landfall/secrets/`.
    pub fn to_files(&self) -> FileSet {
        let mut files = FileSet::default();
        let mut add = |name: &str, contents: String| files.insert(path(name), File::private(contents));
        for (name, authority) in self.authorities() {
            add(&format!("{name}.crt"), authority.certificate().to_owned());
            add(&format!("{name}.key"), authority.key().to_pem());
        }
        for (name, key) in self.keys() {
            add(&format!("{name}.key"), key.to_pem());
        }
        let tokens = serde_json::to_string_pretty(&self.tokens).expect("texts and an id can be written as JSON");
        add(TOKENS, tokens + "\n");
        files
    }

    /// The secrets that an earlier run stored.
    pub fn from_files(files: &FileSet) -> Result<Self, Error> {
        let text = |name: &str| {
            let file = files.get(&path(name)).ok_or_else(|| Error::SecretMissing { path: path(name) })?;
            String::from_utf8(file.contents.clone()).map_err(|_| unusable(name, "it is not text"))
        };
        let key = |name: &str| {
            let name = format!("{name}.key");
            PrivateKey::from_pem(&text(&name)?).map_err(|error| unusable(&name, error))
        };
        let authority = |name: &str| {
            let certificate = format!("{name}.crt");
            Authority::restore(key(name)?, text(&certificate)?).map_err(|reason| unusable(&certificate, reason))
        };
        let tokens: Tokens = serde_json::from_str(&text(TOKENS)?).map_err(|error| unusable(TOKENS, error))?;
        Ok(Self {
            cluster_ca: authority("cluster-ca")?,
            front_proxy_ca: authority("front-proxy-ca")?,
            etcd_ca: authority("etcd-ca")?,
            service_account_key: key("service-account")?,
            config_server_key: key("config-server")?,
            admin_key: key("admin")?,
            tokens,
        })
    }

    fn authorities(&self) -> [(&'static str, &Authority); 3] {
        [("cluster-ca", &self.cluster_ca), ("front-proxy-ca", &self.front_proxy_ca), ("etcd-ca", &self.etcd_ca)]
    }

    fn keys(&self) -> [(&'static str, &PrivateKey); 3] {
        [
            ("service-account", &self.service_account_key),
            ("config-server", &self.config_server_key),
            ("admin", &self.admin_key),
        ]
    }
}

fn path(name: &str) -> String {
    format!("{DIRECTORY}/{name}")
}

fn unusable(name: &str, reason: impl Display) -> Error {
    Error::SecretUnusable { path: path(name), reason: format!("{reason}") }
}
