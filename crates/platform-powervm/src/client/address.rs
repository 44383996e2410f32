//! Where a console is.

use std::fmt;

use url::Url;

use crate::Error;

/// The ports that consoles listen on if none is given: NovaLink without TLS for local users, and both with TLS.
const PLAIN_PORT: u16 = 12080;
const TLS_PORT: u16 = 12443;

/// The address of a NovaLink or an HMC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleUrl(Url);

impl ConsoleUrl {
    /// Reads an address: `https://host`, `http://localhost:12080`, or a host alone.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refused = |reason| Error::Address { text: text.to_owned(), reason };
        let full = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let mut url = Url::parse(&full).map_err(|_| refused("it cannot be read as a URL"))?;
        let default = match url.scheme() {
            "http" => PLAIN_PORT,
            "https" => TLS_PORT,
            _ => return Err(refused("it begins neither with http:// nor with https://")),
        };
        if url.host_str().is_none_or(str::is_empty) {
            return Err(refused("it has no host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("it holds credentials, which do not belong there"));
        }
        // `port` is none for what the scheme implies too, which is never meant: no console listens there.
        let explicit = full.rsplit_once(':').is_some_and(|(_, port)| port.starts_with(|c: char| c.is_ascii_digit()));
        if url.port().is_none() && !explicit {
            url.set_port(Some(default)).map_err(|()| refused("it cannot have a port"))?;
        }
        url.set_path("/rest/api/");
        url.set_query(None);
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// The address of something, from the service on.
    pub(super) fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        url.set_path(&format!("/rest/api/{path}"));
        url.set_query(query);
        url
    }
}

impl fmt::Display for ConsoleUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.host_str().unwrap_or_default())?;
        self.0.port().map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_get_the_usual_port() {
        for (text, url) in [
            ("novalink", "https://novalink:12443/rest/api/uom/Event?a=1"),
            ("http://localhost", "http://localhost:12080/rest/api/uom/Event?a=1"),
            ("https://[::1]:5000/", "https://[::1]:5000/rest/api/uom/Event?a=1"),
            ("https://hmc:443", "https://hmc/rest/api/uom/Event?a=1"),
        ] {
            assert_eq!(ConsoleUrl::parse(text).unwrap().join("uom/Event?a=1").as_str(), url);
        }
        for text in ["ftp://a", "", "https://", "https://me:secret@host"] {
            assert!(ConsoleUrl::parse(text).is_err(), "{text}");
        }
    }
}
