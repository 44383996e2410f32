//! What goes into a certificate.

use std::{net::IpAddr, time::Duration};

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyUsagePurpose,
    PublicKeyData, SanType, SerialNumber, date_time_ymd,
};
use sha2::{Digest, Sha256};

use super::PrivateKey;

/// Machines whose clocks are a little late must not find a certificate that is not valid yet.
const CLOCK_SKEW: i64 = 3600;
const DAY: i64 = 24 * 3600;

/// What a certificate is for.
pub(super) enum Purpose {
    /// Signs other certificates.
    Authority,
    /// Identifies a server under these names and addresses.
    Server { names: Vec<String>, addresses: Vec<IpAddr> },
    /// Identifies a client; Kubernetes takes the organisation as its group.
    Client { organisation: &'static str },
}

/// The parameters of a certificate for a key.
pub(super) fn parameters(
    common_name: &str,
    purpose: &Purpose,
    key: &PrivateKey,
    now: Timestamp,
    validity_days: u32,
) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::default();
    let epoch = date_time_ymd(1970, 1, 1);
    let at = |seconds: i64| epoch + Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    params.not_before = at(now.as_second() - CLOCK_SKEW);
    params.not_after = at(now.as_second() + i64::from(validity_days) * DAY);
    params.serial_number = Some(serial_number(common_name, key, now));
    params.use_authority_key_identifier_extension = true;

    // rcgen's default subject is the same for every certificate, which makes a signed one look self-signed.
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);

    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    match purpose {
        Purpose::Authority => {
            params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
            params.key_usages.extend([KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign]);
        }
        Purpose::Server { names, addresses } => {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
            if key.is_rsa() {
                // Only RSA can encrypt the keys of old TLS versions.
                params.key_usages.push(KeyUsagePurpose::KeyEncipherment);
            }
            for name in names {
                params.subject_alt_names.push(SanType::DnsName(name.as_str().try_into()?));
            }
            params.subject_alt_names.extend(addresses.iter().copied().map(SanType::IpAddress));
        }
        Purpose::Client { organisation } => {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
            params.distinguished_name.push(DnType::OrganizationName, *organisation);
        }
    }
    Ok(params)
}

/// A serial number that no other certificate has: it covers the subject, the key and the moment, so a certificate that is
/// issued again gets another one.
fn serial_number(common_name: &str, key: &PrivateKey, now: Timestamp) -> SerialNumber {
    let digest = Sha256::new()
        .chain_update(common_name)
        .chain_update([0])
        .chain_update(key.pair().der_bytes())
        .chain_update(now.as_nanosecond().to_be_bytes())
        .finalize();
    // Positive and not beginning with zero, so that it always has the same length.
    let mut bytes: [u8; 16] = digest[..16].try_into().expect("a digest has 32 bytes");
    bytes[0] = bytes[0] & 0x3f | 0x40;
    SerialNumber::from(bytes.to_vec())
}
