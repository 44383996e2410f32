//! The cluster's certificate authority, as a control-plane machine uses it.

use std::net::IpAddr;
use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair, KeyUsagePurpose,
    PublicKeyData,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use sha2::{Digest, Sha256};
use x509_parser::prelude::{FromDer, X509Certificate};

/// What went wrong with certificates, for the console.
#[derive(Debug, thiserror::Error)]
pub(super) enum PkiError {
    #[error("{0} is not PEM")]
    Pem(&'static str),
    #[error("the key is not that of the CA certificate")]
    Mismatch,
    #[error("a certificate cannot be made")]
    Make(#[from] rcgen::Error),
    #[error("a certificate cannot be used")]
    Use(#[from] rustls::Error),
    #[error("the certificate key does not open what is encrypted with it")]
    CertificateKey,
}

/// A certificate authority with its key.
pub(super) struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key.
pub(super) struct Identity {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) key: PrivateKeyDer<'static>,
}

impl Authority {
    /// The authority of these files; the key must be that of the certificate.
    pub(super) fn load(certificate: &str, key: &str) -> Result<Self, PkiError> {
        let key = KeyPair::from_pem(key).map_err(|_| PkiError::Pem("the CA's key"))?;
        let der = certificate_of(certificate)?;
        let (_, parsed) = X509Certificate::from_der(&der).map_err(|_| PkiError::Pem("the CA's certificate"))?;
        if parsed.public_key().raw != key.subject_public_key_info() {
            return Err(PkiError::Mismatch);
        }
        let issuer = Issuer::from_ca_cert_pem(certificate, key)?;
        Ok(Self { pem: certificate.to_owned(), issuer })
    }

    pub(super) fn certificate(&self) -> Result<CertificateDer<'static>, PkiError> {
        certificate_of(&self.pem)
    }

    /// An identity for a server with these names and addresses.
    pub(super) fn issue_server(&self, names: Vec<String>) -> Result<Identity, PkiError> {
        let mut params = CertificateParams::new(names)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(params, "kube-apiserver", None)
    }

    /// An identity for a client.
    pub(super) fn issue_client(&self, name: &str, group: &str) -> Result<Identity, PkiError> {
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(params, name, Some(group))
    }

    fn issue(&self, mut params: CertificateParams, name: &str, group: Option<&str>) -> Result<Identity, PkiError> {
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity { certificate: certificate.der().clone(), key: PrivateKeyDer::Pkcs8(key.serialize_der().into()) })
    }
}

fn certificate_of(pem: &str) -> Result<CertificateDer<'static>, PkiError> {
    CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| PkiError::Pem("the CA's certificate"))
}

/// The digest of a CA's public key in the form of kubeadm's `caCertHashes`.
pub(super) fn pin(ca_pem: &str) -> Result<String, PkiError> {
    let der = certificate_of(ca_pem)?;
    let (_, parsed) = X509Certificate::from_der(&der).map_err(|_| PkiError::Pem("the CA's certificate"))?;
    Ok(format!("sha256:{:x}", Sha256::digest(parsed.public_key().raw)))
}

/// A TLS client that trusts one authority, and shows an identity if it has one.
pub(super) fn client(ca_pem: &str, identity: Option<Identity>) -> Result<Arc<ClientConfig>, PkiError> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate_of(ca_pem)?)?;
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    Ok(Arc::new(match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => builder.with_client_auth_cert(vec![identity.certificate], identity.key)?,
    }))
}

/// A TLS client that does not care who answers: for the one request by which a machine learns the CA, whose digest it knows.
pub(super) fn trusting_client() -> Result<Arc<ClientConfig>, PkiError> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider())));
    Ok(Arc::new(builder.with_no_client_auth()))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The key that protects the authorities on their way through the cluster to new masters: AES-256-GCM with the nonce in
/// front, as `kubeadm init phase upload-certs` does it.
pub(super) struct CertificateKey(RandomizedNonceKey);

impl CertificateKey {
    /// From its 64 hexadecimal digits.
    pub(super) fn parse(text: &str) -> Result<Self, PkiError> {
        let bytes: Option<Vec<u8>> =
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect();
        let key = bytes.and_then(|bytes| RandomizedNonceKey::new(&AES_256_GCM, &bytes).ok());
        key.map(Self).ok_or(PkiError::CertificateKey)
    }

    pub(super) fn seal(&self, text: &str) -> Result<Vec<u8>, PkiError> {
        let mut data = text.as_bytes().to_vec();
        let nonce = self.0.seal_in_place_append_tag(Aad::empty(), &mut data).map_err(|_| PkiError::CertificateKey)?;
        Ok([nonce.as_ref().as_slice(), data.as_slice()].concat())
    }

    pub(super) fn open(&self, sealed: &[u8]) -> Result<String, PkiError> {
        let (nonce, data) = sealed.split_at_checked(NONCE_LEN).ok_or(PkiError::CertificateKey)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| PkiError::CertificateKey)?;
        let mut data = data.to_vec();
        let text = self.0.open_in_place(nonce, Aad::empty(), &mut data).map_err(|_| PkiError::CertificateKey)?;
        String::from_utf8(text.to_vec()).map_err(|_| PkiError::CertificateKey)
    }
}

/// The names under which an API server on a machine must be reachable, besides those that its configuration lists.
pub(super) fn api_server_names(hostname: &str, address: IpAddr, endpoint: &str) -> Vec<String> {
    let host = endpoint.rsplit_once(':').map_or(endpoint, |(host, _)| host).trim_matches(['[', ']']);
    let fixed = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost", "127.0.0.1"];
    let own = [hostname.to_owned(), address.to_string(), host.to_owned()];
    own.into_iter().chain(fixed.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_key_opens() {
        let key = CertificateKey::parse(&"0f".repeat(32)).unwrap();
        let sealed = key.seal("secret").unwrap();
        assert_eq!(key.open(&sealed).unwrap(), "secret");
        assert_ne!(key.seal("secret").unwrap(), sealed, "each time another nonce");
        assert!(CertificateKey::parse(&"1f".repeat(32)).unwrap().open(&sealed).is_err());
        assert!(key.open(&sealed[..5]).is_err());
        for text in ["", "0f", "x", &"zz".repeat(32), &"é".repeat(32)] {
            assert!(CertificateKey::parse(text).is_err(), "{text}");
        }
    }
}
