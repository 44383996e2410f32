//! Issuing a certificate anew, on a machine that has nothing but the old one and the authority.

use std::net::IpAddr;

use jiff::Timestamp;
use x509_parser::extensions::GeneralName;

use super::{Authority, PrivateKey, certificate_expiry, expiry, profile::Purpose};
use crate::Error;

/// What a server certificate is issued anew from, all in PEM.
pub struct Reissue<'a> {
    /// The certificate that ends.
    pub old: &'a str,
    /// Its private key, which is kept.
    pub key: &'a str,
    /// The authority's certificate.
    pub authority: &'a str,
    /// The authority's key.
    pub authority_key: &'a str,
}

impl Reissue<'_> {
    /// A certificate of the same name, for the same names and addresses, valid from `now` for as long as the old one was.
    pub fn server_certificate(&self, now: Timestamp) -> Result<String, Error> {
        let old = certificate_expiry(self.old.as_bytes())?;
        let seconds = old.not_after.as_second() - old.not_before.as_second();
        let days = u32::try_from(seconds / (24 * 3600)).unwrap_or(u32::MAX).max(1);
        let failed = |source| Error::IssueCertificate { name: old.name.clone(), source };
        let key = PrivateKey::from_pem(self.key).map_err(failed)?;
        let authority_key = PrivateKey::from_pem(self.authority_key).map_err(failed)?;
        let authority = Authority::restore(authority_key, self.authority.to_owned())
            .map_err(|reason| Error::NotACertificate { reason })?;
        authority.sign(&old.name, &served(self.old)?, &key, now, days)
    }
}

/// The names and addresses of a certificate.
fn served(pem: &str) -> Result<Purpose, Error> {
    expiry::with_certificate(pem.as_bytes(), |x509| {
        let (mut names, mut addresses) = (Vec::new(), Vec::new());
        let alternatives = x509.subject_alternative_name().ok().flatten();
        for name in alternatives.iter().flat_map(|extension| &extension.value.general_names) {
            match name {
                GeneralName::DNSName(name) => names.push((*name).to_owned()),
                GeneralName::IPAddress(bytes) => addresses.extend(address(bytes)),
                _ => {}
            }
        }
        Purpose::Server { names, addresses }
    })
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    }
}

#[cfg(test)]
mod tests {
    use landfall_config::KeyAlgorithm;

    use super::*;

    #[test]
    fn it_serves_the_same_and_begins_now() {
        let at = |day: i64| Timestamp::from_second(1_800_000_000 + day * 86_400).unwrap();
        let key = |name| PrivateKey::generate(name, KeyAlgorithm::EcdsaP256).unwrap();
        let authority = Authority::create("demo-ca", key("ca"), at(0), 3650).unwrap();
        let server = key("server");
        let names = vec!["api-int.demo.example.com".to_owned()];
        let addresses = vec!["192.0.2.5".parse().unwrap(), "2001:db8::5".parse().unwrap()];
        let purpose = Purpose::Server { names: names.clone(), addresses: addresses.clone() };
        let old = authority.sign("config-server", &purpose, &server, at(0), 365).unwrap();
        let (server, ca_key) = (server.to_pem(), authority.key().to_pem());
        let reissue = Reissue { old: &old, key: &server, authority: authority.certificate(), authority_key: &ca_key };
        let new = reissue.server_certificate(at(300)).unwrap();

        let (before, after) =
            (certificate_expiry(old.as_bytes()).unwrap(), certificate_expiry(new.as_bytes()).unwrap());
        assert_eq!(after.name, "config-server");
        assert_eq!(after.not_after.as_second() - before.not_after.as_second(), 300 * 86_400);
        let Purpose::Server { names: kept, addresses: still } = served(&new).unwrap() else { panic!("not a server's") };
        assert_eq!((kept, still), (names, addresses));
    }
}
