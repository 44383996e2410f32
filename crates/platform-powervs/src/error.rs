//! What can go wrong on PowerVS.

use std::time::Duration;

use landfall_platform::{ErrorClass, StepError};
use landfall_wire::ibm_cloud::{self, Fault};

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer, or one that is not understood.
    #[error("{attempt} at {service} failed")]
    Exchange {
        /// What was attempted.
        attempt: String,
        /// Which service.
        service: String,
        /// How.
        source: Box<ibm_cloud::Error>,
    },
    /// A service refused.
    #[error("{attempt} at {service} was answered with {fault}")]
    Fault {
        /// What was attempted.
        attempt: String,
        /// Which service.
        service: String,
        /// What it said.
        fault: Box<Fault>,
    },
    /// Something that is needed does not exist.
    #[error("{object} does not exist")]
    Missing {
        /// What.
        object: String,
    },
    /// Something with the name that an object needs exists and does not belong to the cluster.
    #[error("{object} exists and does not belong to the cluster; remove it, or choose another name")]
    Foreign {
        /// What.
        object: String,
    },
    /// Something was there and was deleted while it was waited for. The next attempt makes it again.
    #[error("{object} is gone: somebody deleted it while it was waited for")]
    Gone {
        /// What.
        object: String,
    },
    /// The platform failed to make something.
    #[error("{object} is in state {state}: {reason}; 'create cluster' makes it anew")]
    Failed {
        /// What.
        object: String,
        /// The platform's word.
        state: String,
        /// The platform's reason.
        reason: String,
    },
    /// Something is busy with another change.
    #[error("{object} is busy ({state})")]
    Busy {
        /// What.
        object: String,
        /// The platform's word.
        state: String,
    },
    /// Something is in a state that can only be mended by people.
    #[error("{object} is {state}")]
    State {
        /// What.
        object: String,
        /// Its state.
        state: String,
    },
    /// The zone of the machines is not known.
    #[error("the zone of the cluster is not known; name it in IBMCLOUD_ZONE")]
    NoZone,
    /// A bucket that is private needs a key.
    #[error(
        "there is no HMAC key for the private bucket {bucket}: set IBMCLOUD_HMAC_ACCESS_KEY_ID and IBMCLOUD_HMAC_SECRET_ACCESS_KEY"
    )]
    NoHmac {
        /// Which bucket.
        bucket: String,
    },
    /// Credentials cannot be read.
    #[error(transparent)]
    Credentials(#[from] ibm_cloud::Error),
}

impl Error {
    pub(crate) fn exchange(attempt: &str, service: &str, source: ibm_cloud::Error) -> Self {
        Self::Exchange { attempt: attempt.to_owned(), service: service.to_owned(), source: Box::new(source) }
    }

    pub(crate) fn fault(attempt: &str, service: &str, fault: Fault) -> Self {
        Self::Fault { attempt: attempt.to_owned(), service: service.to_owned(), fault: Box::new(fault) }
    }

    pub(crate) fn missing(object: impl Into<String>) -> Self {
        Self::Missing { object: object.into() }
    }

    /// What kind of trouble it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Exchange { source, .. } => source.class(),
            Self::Credentials(source) => source.class(),
            Self::Fault { fault, .. } => class_of(fault),
            Self::Missing { .. } => ErrorClass::NotFound,
            Self::Gone { .. } => ErrorClass::Transient,
            Self::Busy { .. } => ErrorClass::Locked,
            Self::Foreign { .. } | Self::Failed { .. } | Self::State { .. } | Self::NoZone | Self::NoHmac { .. } => {
                ErrorClass::Invalid
            }
        }
    }

    /// How long the service asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Fault { fault, .. } => fault.retry_after,
            Self::Exchange { source, .. } => source.retry_after(),
            _ => None,
        }
    }
}

/// The class of a refusal. What is attached to something that should go is answered with 400, and a machine for which there is no room with
/// 422; only the text tells.
fn class_of(fault: &Fault) -> ErrorClass {
    let text = fault.message.to_ascii_lowercase();
    let is_full = ["insufficient resources", "quota exceeded"].iter().any(|phrase| text.contains(phrase));
    if is_full && (400..500).contains(&fault.status) {
        return ErrorClass::Capacity;
    }
    let attached = ["still attached to pvm-instances", "have an ip allocation", "in use"];
    if fault.status == 400 && attached.iter().any(|phrase| text.contains(phrase)) {
        return ErrorClass::Locked;
    }
    fault.class()
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        let wait = error.retry_after();
        Self::new(error.class(), error).retry_after(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_apart() {
        for (status, code, text, class) in [
            (401, None, "", ErrorClass::Auth),
            (403, None, "", ErrorClass::Auth),
            (404, None, "image not found", ErrorClass::NotFound),
            (409, Some("load_balancer_update_conflict"), "", ErrorClass::Locked),
            (429, None, "", ErrorClass::Throttled),
            (500, None, "", ErrorClass::Transient),
            (400, None, "network 1-2 still attached to pvm-instances", ErrorClass::Locked),
            (400, None, "processors must be a multiple of 0.25", ErrorClass::Invalid),
            (412, Some("precondition_failed"), "", ErrorClass::Capacity),
            (403, Some("over_quota"), "", ErrorClass::Capacity),
            (422, None, "insufficient resources: no host has room for the pvm-instance", ErrorClass::Capacity),
            (422, None, "quota exceeded: the workspace may have 20 pvm-instances", ErrorClass::Capacity),
            (422, None, "the image is not active", ErrorClass::Invalid),
        ] {
            let fault = Fault { status, code: code.map(str::to_owned), message: text.to_owned(), retry_after: None };
            assert_eq!(Error::fault("x", "y", fault.clone()).class(), class, "{fault}");
        }
    }
}
