//! Where an engine is.

use std::{fmt, str::FromStr};

use url::Url;

use crate::Error;

const ROOT: &str = "/ovirt-engine/";

/// Where an engine is: `https://host[:port]/ovirt-engine/`.
///
/// Read from a host name, with or without a port, or from any URL of the engine, for example that of its API or its
/// administration portal. Only HTTPS: the password goes there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineUrl(Url);

impl EngineUrl {
    /// The API, as other tools want it: `https://host/ovirt-engine/api`.
    pub fn api(&self) -> Url {
        self.below("api")
    }

    /// A resource of the API.
    pub(crate) fn resource(&self, path: &str) -> Url {
        self.below(&format!("api/{path}"))
    }

    /// Where tokens are handed out.
    pub(crate) fn token(&self) -> Url {
        self.below("sso/oauth/token")
    }

    /// Where the engine hands out its own CA certificate, to anybody.
    pub fn authority(&self) -> Url {
        self.below("services/pki-resource?resource=ca-certificate&format=X509-PEM-CA")
    }

    /// Host and port; the port only if it is not HTTPS' own.
    pub fn host(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        match self.0.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    fn below(&self, path: &str) -> Url {
        self.0.join(path).expect("a path below a base URL is a URL")
    }
}

impl FromStr for EngineUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let refuse = |reason| Error::Address { text: text.to_owned(), reason };
        if text.is_empty() {
            return Err(refuse("it is empty"));
        }
        let absolute = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let mut url: Url = absolute.parse().map_err(|_| refuse("it is neither a host name nor a URL"))?;
        if url.scheme() != "https" {
            return Err(refuse("only https:// keeps the password secret"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("user and password do not belong in it"));
        }
        if url.host_str().is_none_or(|host| host.is_empty() || host.contains(['_', '%'])) {
            return Err(refuse("it has no valid host name"));
        }
        if !matches!(url.path(), "" | "/" | "/ovirt-engine") && !url.path().starts_with(ROOT) {
            return Err(refuse("the path must be empty or begin with /ovirt-engine/"));
        }
        url.set_path(ROOT);
        url.set_query(None);
        url.set_fragment(None);
        Ok(Self(url))
    }
}

impl fmt::Display for EngineUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_or_any_url_of_the_engine_will_do() {
        for text in [
            "engine.example.com",
            " engine.example.com ",
            "ENGINE.example.com:443",
            "https://engine.example.com",
            "https://engine.example.com/ovirt-engine",
            "https://engine.example.com/ovirt-engine/api",
            "https://engine.example.com/ovirt-engine/api/",
            "https://engine.example.com/ovirt-engine/webadmin/?locale=en_US#vms",
        ] {
            let url: EngineUrl = text.parse().unwrap();
            assert_eq!(url.api().as_str(), "https://engine.example.com/ovirt-engine/api", "{text}");
            assert_eq!(url.host(), "engine.example.com", "{text}");
        }
        assert_eq!("[2001:db8::1]:8443".parse::<EngineUrl>().unwrap().host(), "[2001:db8::1]:8443");
    }

    #[test]
    fn the_engines_own_addresses_follow() {
        let url: EngineUrl = "10.0.0.5:8443".parse().unwrap();
        assert_eq!(url.token().as_str(), "https://10.0.0.5:8443/ovirt-engine/sso/oauth/token");
        assert_eq!(
            url.authority().as_str(),
            "https://10.0.0.5:8443/ovirt-engine/services/pki-resource?resource=ca-certificate&format=X509-PEM-CA"
        );
        assert_eq!(
            url.resource("clusters/1/networks").as_str(),
            "https://10.0.0.5:8443/ovirt-engine/api/clusters/1/networks"
        );
    }

    #[test]
    fn anything_else_is_refused_with_a_reason() {
        for (text, reason) in [
            ("", "empty"),
            ("http://engine.example.com", "https"),
            ("ftp://engine.example.com", "https"),
            ("admin:secret@engine.example.com", "password"),
            ("https://engine.example.com/api", "path"),
            ("engine example com", "neither"),
            ("engine.example.com:99999", "neither"),
            ("https://", "neither"),
        ] {
            let error = text.parse::<EngineUrl>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
