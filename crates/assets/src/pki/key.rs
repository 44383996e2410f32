//! Private keys in PKCS#8, which kubeadm, haproxy and rustls all read.

use std::fmt;

use landfall_config::KeyAlgorithm;
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, RsaKeySize};

use crate::Error;

/// A private key.
pub struct PrivateKey(KeyPair);

impl PrivateKey {
    /// Makes a key. Its randomness comes from the operating system, inside the crypto library.
    pub(crate) fn generate(name: &str, algorithm: KeyAlgorithm) -> Result<Self, Error> {
        let rsa = |size| KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, size);
        let pair = match algorithm {
            KeyAlgorithm::EcdsaP256 => KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256),
            KeyAlgorithm::Rsa2048 => rsa(RsaKeySize::_2048),
            KeyAlgorithm::Rsa3072 => rsa(RsaKeySize::_3072),
            KeyAlgorithm::Rsa4096 => rsa(RsaKeySize::_4096),
        };
        pair.map(Self).map_err(|source| Error::MakeKey { name: name.to_owned(), source })
    }

    /// Makes several keys at once, because one RSA key alone can take a second.
    pub(crate) fn generate_all<const N: usize>(
        names: [&'static str; N],
        algorithm: KeyAlgorithm,
    ) -> Result<[Self; N], Error> {
        std::thread::scope(|scope| {
            let threads = names.map(|name| scope.spawn(move || Self::generate(name, algorithm)));
            let keys: Vec<Self> = threads
                .into_iter()
                .map(|thread| thread.join().expect("making a key does not panic"))
                .collect::<Result<_, _>>()?;
            Ok(keys.try_into().unwrap_or_else(|_| unreachable!("one key per name")))
        })
    }

    pub(crate) fn from_pem(pem: &str) -> Result<Self, rcgen::Error> {
        KeyPair::from_pem(pem).map(Self)
    }

    /// The key as `PRIVATE KEY` in PEM.
    pub fn to_pem(&self) -> String {
        self.0.serialize_pem()
    }

    /// The public half as `PUBLIC KEY` in PEM.
    pub fn public_pem(&self) -> String {
        self.0.public_key_pem()
    }

    pub(super) fn is_rsa(&self) -> bool {
        self.0.algorithm() == &PKCS_RSA_SHA256
    }

    pub(super) fn pair(&self) -> &KeyPair {
        &self.0
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(…)")
    }
}
