//! Certificate authorities.

use jiff::Timestamp;
use rcgen::Issuer;

use super::{
    PrivateKey, expiry,
    profile::{Purpose, parameters},
};
use crate::Error;

/// A certificate authority of the cluster.
#[derive(Debug)]
pub struct Authority {
    key: PrivateKey,
    certificate: String,
}

impl Authority {
    pub(crate) fn create(
        common_name: &str,
        key: PrivateKey,
        now: Timestamp,
        validity_days: u32,
    ) -> Result<Self, Error> {
        let failed = |source| Error::IssueCertificate { name: common_name.to_owned(), source };
        let params = parameters(common_name, &Purpose::Authority, &key, now, validity_days).map_err(failed)?;
        let certificate = params.self_signed(key.pair()).map_err(failed)?.pem();
        Ok(Self { key, certificate })
    }

    /// An authority that an earlier run made. The certificate must belong to the key.
    pub(crate) fn restore(key: PrivateKey, certificate: String) -> Result<Self, String> {
        let issued_for = expiry::with_certificate(certificate.as_bytes(), |x509| x509.public_key().raw.to_vec())
            .map_err(|error| error.to_string())?;
        if issued_for != rcgen::PublicKeyData::subject_public_key_info(key.pair()) {
            return Err("it does not belong to the private key beside it".to_owned());
        }
        Ok(Self { key, certificate })
    }

    /// The certificate in PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// The private key.
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// The public key pin in kubeadm's spelling: SHA-256 of the public key info.
    pub fn public_key_pin(&self) -> String {
        super::pins::pin(&rcgen::PublicKeyData::subject_public_key_info(self.key.pair()))
    }

    pub(super) fn sign(
        &self,
        common_name: &str,
        purpose: &Purpose,
        key: &PrivateKey,
        now: Timestamp,
        validity_days: u32,
    ) -> Result<String, Error> {
        let failed = |source| Error::IssueCertificate { name: common_name.to_owned(), source };
        let issuer = Issuer::from_ca_cert_pem(&self.certificate, self.key.pair()).map_err(failed)?;
        let params = parameters(common_name, purpose, key, now, validity_days).map_err(failed)?;
        Ok(params.signed_by(key.pair(), &issuer).map_err(failed)?.pem())
    }
}
