//! Keys, certificate authorities and the certificates that they sign.

mod authority;
mod certificates;
mod expiry;
mod key;
mod pins;
mod profile;
mod reissue;

pub use authority::Authority;
pub use certificates::{Certificates, IssuedCertificate};
pub use expiry::{Expiry, certificate_expiry};
pub use key::PrivateKey;
pub use pins::public_key_pins;
pub use reissue::Reissue;
