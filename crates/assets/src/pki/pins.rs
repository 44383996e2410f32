//! Pins of public keys, in kubeadm's spelling.

use sha2::{Digest as _, Sha256};
use x509_parser::pem::Pem;

use crate::Error;

/// The pins of all certificates in a PEM text, in their order. While an authority is being replaced there are two.
pub fn public_key_pins(pem: &str) -> Result<Vec<String>, Error> {
    let unreadable = |reason: String| Error::NotACertificate { reason };
    let pins = Pem::iter_from_buffer(pem.as_bytes()).map(|block| {
        let block = block.map_err(|error| unreadable(error.to_string()))?;
        let x509 = block.parse_x509().map_err(|error| unreadable(error.to_string()))?;
        Ok(pin(x509.public_key().raw))
    });
    let pins = pins.collect::<Result<Vec<_>, Error>>()?;
    if pins.is_empty() { Err(unreadable("there is none in the text".to_owned())) } else { Ok(pins) }
}

/// SHA-256 of the public key info.
pub(super) fn pin(info: &[u8]) -> String {
    format!("sha256:{}", crate::hex::encode(&Sha256::digest(info)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_certificate_of_a_bundle_is_pinned() {
        let pair = || rcgen::generate_simple_self_signed(["ca".to_owned()]).unwrap();
        let (old, new) = (pair(), pair());
        let pins = public_key_pins(&format!("{}{}", old.cert.pem(), new.cert.pem())).unwrap();
        let expected = [&old, &new].map(|made| pin(&rcgen::PublicKeyData::subject_public_key_info(&made.signing_key)));
        assert_eq!(pins, expected);
        assert!(public_key_pins("").is_err());
    }
}
