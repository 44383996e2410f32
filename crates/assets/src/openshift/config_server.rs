//! Has the release's machine config server answer under the virtual addresses too.
//!
//! On platform `external` the release points machines at `api-int`, and its config server is certified for that name only.
//! A machine asks for its config before anything of the cluster runs on it, so the name would have to be in the site's
//! DNS. On its on-prem platforms the release points at the virtual address instead; Landfall does the same, for which the
//! certificate must name the addresses.
//!
//! The certificate is issued again by the same authority for the same key and time. Since release 4.19 the machine config
//! operator replaces certificates that it finds wanting, but it judges them by the annotations of their Secret (dates,
//! issuer, host names), and those still say what it expects. It issues one of its own after eight years; machines that
//! are added later need `api-int` in the site's DNS.

use std::net::IpAddr;

use base64::{Engine, prelude::BASE64_STANDARD};
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair, KeyUsagePurpose, SanType,
};
use x509_parser::{certificate::X509Certificate, extensions::GeneralName, pem::parse_x509_pem};

use super::{Error, state::CertificateAndKey};

/// The certificate of the config server, in PEM, with addresses added to the names it has.
pub(super) fn certificate(
    ca: &CertificateAndKey,
    server: &CertificateAndKey,
    addresses: &[IpAddr],
) -> Result<String, Error> {
    let (ca_key, server_key) = (key_pair(&ca.key)?, key_pair(&server.key)?);
    let issuer = Issuer::from_ca_cert_pem(&text(&ca.certificate)?, ca_key).map_err(unusable)?;
    let pem = text(&server.certificate)?;
    let (_, pem) = parse_x509_pem(pem.as_bytes()).map_err(unusable)?;
    let params = parameters(&pem.parse_x509().map_err(unusable)?, addresses)?;
    Ok(params.signed_by(&server_key, &issuer).map_err(unusable)?.pem())
}

fn parameters(existing: &X509Certificate<'_>, addresses: &[IpAddr]) -> Result<CertificateParams, Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    for name in existing.subject().iter_common_name().filter_map(|name| name.as_str().ok()) {
        params.distinguished_name.push(DnType::CommonName, name);
    }
    params.not_before = existing.validity().not_before.to_datetime();
    params.not_after = existing.validity().not_after.to_datetime();
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let names = existing.subject_alternative_name().map_err(unusable)?;
    for name in names.iter().flat_map(|names| &names.value.general_names) {
        if let GeneralName::DNSName(name) = name {
            params.subject_alt_names.push(SanType::DnsName((*name).try_into().map_err(unusable)?));
        }
    }
    params.subject_alt_names.extend(addresses.iter().copied().map(SanType::IpAddress));
    Ok(params)
}

fn key_pair(encoded: &str) -> Result<KeyPair, Error> {
    KeyPair::from_pem(&text(encoded)?).map_err(unusable)
}

fn text(encoded: &str) -> Result<String, Error> {
    let bytes = BASE64_STANDARD.decode(encoded).map_err(unusable)?;
    String::from_utf8(bytes).map_err(unusable)
}

fn unusable(error: impl std::fmt::Display) -> Error {
    Error::Unusable { path: "the certificates that openshift-install made".to_owned(), reason: error.to_string() }
}
