//! TSIG (RFC 8945): messages signed with a secret that both sides know.

use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use hickory_proto::{
    op::Message,
    rr::{
        TSigner,
        rdata::tsig::{TsigAlgorithm as WireAlgorithm, TsigError},
    },
};
use landfall_config::TsigAlgorithm;
use secrecy::{ExposeSecret, SecretSlice};

use super::message::wire_name;
use crate::{Error, Name};

/// How far the clocks of both sides may be apart, in seconds: what RFC 8945 recommends.
const FUDGE: u16 = 300;

/// The time, which signatures contain.
pub(crate) trait Clock: Send + Sync {
    /// Seconds since 1970.
    fn seconds(&self) -> u64;
}

/// The clock of this machine.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn seconds(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

/// A TSIG key.
#[derive(Clone)]
pub(crate) struct Key {
    name: Name,
    signer: TSigner,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What it takes to verify the answer to a signed message.
pub(super) struct Signature(Vec<u8>);

impl Key {
    pub(crate) fn new(name: Name, algorithm: TsigAlgorithm, secret: &SecretSlice<u8>, clock: Arc<dyn Clock>) -> Self {
        let algorithm = match algorithm {
            TsigAlgorithm::HmacSha256 => WireAlgorithm::HmacSha256,
            TsigAlgorithm::HmacSha384 => WireAlgorithm::HmacSha384,
            TsigAlgorithm::HmacSha512 => WireAlgorithm::HmacSha512,
        };
        let signer = TSigner::new(secret.expose_secret().to_vec(), algorithm, wire_name(&name), FUDGE)
            .expect("all algorithms of the install-config are supported");
        Self { name, signer, clock }
    }

    /// Signs a message.
    pub(super) fn sign(&self, message: &mut Message) -> Signature {
        let (record, _) =
            self.signer.sign_message(message, self.clock.seconds()).expect("a message that can be sent can be signed");
        let signature = Signature(record.data.mac.clone());
        message.set_signature(record);
        signature
    }

    /// Whether an answer comes from somebody who knows the key. An error needs no signature: who can forge one can as well
    /// keep the answer from us.
    pub(super) fn verify(&self, bytes: &[u8], reply: &Message, request: &Signature, server: &str) -> Result<(), Error> {
        let tsig = reply.signature().map(|record| &record.data);
        if let Some(error) = tsig.and_then(|tsig| tsig.error) {
            let reason = match error {
                TsigError::BadKey => "it does not know a key of this name and algorithm (BADKEY)".to_owned(),
                TsigError::BadSig => "its secret is another one (BADSIG)".to_owned(),
                TsigError::BadTime => self.skew(tsig.map(|tsig| tsig.other.as_slice()).unwrap_or_default()),
                other => format!("error {}", u16::from(other)),
            };
            return Err(Error::Key { server: server.to_owned(), key: self.name.clone(), reason });
        }
        if super::answer::code(reply.metadata.response_code) != "NOERROR" && tsig.is_none() {
            return Ok(());
        }
        let unsigned = |reason: String| Error::Unsigned { server: server.to_owned(), key: self.name.clone(), reason };
        let Some(_) = tsig else { return Err(unsigned("there is no signature".to_owned())) };
        let verified = self.signer.verify_message_byte(bytes, Some(&request.0), true);
        let (_, _, valid) = verified.map_err(|error| unsigned(error.to_string()))?;
        if valid.contains(&self.clock.seconds()) {
            Ok(())
        } else {
            Err(unsigned("it is too old, or from the future".to_owned()))
        }
    }

    /// What a server says about clocks: its own time stands in the answer.
    fn skew(&self, other: &[u8]) -> String {
        let theirs = other.iter().fold(0_u64, |time, byte| time << 8 | u64::from(*byte));
        match (other.len(), i128::from(theirs) - i128::from(self.clock.seconds())) {
            (6, ahead) if ahead > 0 => format!("its clock is {ahead} s ahead of the clock here (BADTIME)"),
            (6, behind) => format!("its clock is {} s behind the clock here (BADTIME)", -behind),
            _ => "its clock and the clock here are too far apart (BADTIME)".to_owned(),
        }
    }
}
