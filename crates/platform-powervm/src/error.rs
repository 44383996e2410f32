//! What can go wrong with a management console.

use std::{fmt, io, path::PathBuf, time::Duration};

use landfall_platform::{ErrorClass, StepError};
use landfall_wire::ImageError;

use crate::xml::ReadError;

/// Codes by which a busy VIOS says so, whatever the status.
const BUSY: [&str; 2] = ["HSCL3205", "VIOS0014"];
/// The code by which a server says that it lacks processors or memory, with the status of a request that is wrong.
const FULL: &str = "HSCL0505";

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not the address of a console.
    #[error("'{text}' is not the address of a NovaLink or HMC: {reason}")]
    Address {
        /// What was given.
        text: String,
        /// Why it is not one.
        reason: &'static str,
    },
    /// The exchange failed.
    #[error("{attempt} at {console} failed")]
    Exchange {
        /// What was attempted.
        attempt: String,
        /// Where.
        console: String,
        /// How.
        source: Box<landfall_wire::Error>,
    },
    /// The console refused.
    #[error("{attempt} at {console} was answered with {fault}")]
    Fault {
        /// What was attempted.
        attempt: String,
        /// Where.
        console: String,
        /// What the console said.
        fault: Box<Fault>,
    },
    /// The console does not let the user in.
    #[error("{console} refused user {user}: {answer}")]
    Logon {
        /// Where.
        console: String,
        /// Who.
        user: String,
        /// What the console said.
        answer: String,
    },
    /// The token that the console has put into a file cannot be read.
    #[error(
        "cannot read the token in {path}, where {console} has put it; local logon works on the management partition only"
    )]
    TokenFile {
        /// Where.
        console: String,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The answer is not XML.
    #[error("the answer to {attempt} at {console} is not understood")]
    Xml {
        /// What was attempted.
        attempt: String,
        /// Where.
        console: String,
        /// Why not.
        source: ReadError,
    },
    /// The answer is XML, but not what it should be.
    #[error("the answer to {attempt} at {console} is not understood: {reason}")]
    Answer {
        /// What was attempted.
        attempt: String,
        /// Where.
        console: String,
        /// Why not.
        reason: String,
    },
    /// Others change an object faster than this program can.
    #[error("{object} at {console} was changed by others each of {attempts} times that it was to be changed")]
    Contended {
        /// What.
        object: String,
        /// Where.
        console: String,
        /// How often it was tried.
        attempts: u32,
    },
    /// A job did not succeed.
    #[error("job {operation} on {object} at {console} ended as {status}: {message}")]
    Job {
        /// What it was to do.
        operation: String,
        /// To what.
        object: String,
        /// Where.
        console: String,
        /// How it ended.
        status: String,
        /// What the console said.
        message: String,
    },
    /// A job did not end.
    #[error("job {operation} on {object} at {console} was still running after {} s and was cancelled", .after.as_secs())]
    JobTimeout {
        /// What it was to do.
        operation: String,
        /// To what.
        object: String,
        /// Where.
        console: String,
        /// How long it was given.
        after: Duration,
    },
    /// A file cannot be read.
    #[error("cannot read {path}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is no home directory, so nobody knows where the credentials file is.
    #[error("there is no home directory, so there is no credentials file")]
    NoHome,
    /// There is no credentials file.
    #[error("there are no credentials for PowerVM: {path} does not exist")]
    NoCredentials {
        /// Where it should be.
        path: PathBuf,
    },
    /// The credentials file cannot be used.
    #[error("{path} cannot be used: {reason}")]
    Credentials {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The credentials of a server are not complete.
    #[error("there is no {field} for server {host} in the credentials file")]
    Incomplete {
        /// The server.
        host: String,
        /// What is missing.
        field: &'static str,
    },
    /// Nobody says where the servers are.
    #[error("no server is known: neither an install-config nor the credentials file names one with its address")]
    NoHosts,
    /// There is no server of a name.
    #[error("there is no server {name} among those of the cluster")]
    UnknownHost {
        /// The name.
        name: String,
    },
    /// A server that must be asked does not answer.
    #[error("nobody knows what is on {host}, which does not answer")]
    Unasked {
        /// The server.
        host: String,
        /// Why not.
        source: Box<Error>,
    },
    /// Something has the name of an object of the cluster, and is not its own.
    #[error("{object} on {host} exists and does not belong to the cluster")]
    Foreign {
        /// What.
        object: String,
        /// The server.
        host: String,
    },
    /// A machine is not there.
    #[error("there is no machine {name}")]
    Missing {
        /// Its name.
        name: String,
    },
    /// A server lacks something that the install-config names.
    #[error("server {host} has no {what}; {field} says that it has")]
    Lacks {
        /// The server.
        host: String,
        /// What.
        what: String,
        /// Who says so.
        field: &'static str,
    },
    /// No server has room for a machine.
    #[error("no server has room for {name}: {}", .reasons.join("; "))]
    NoRoom {
        /// The machine.
        name: String,
        /// Why not, for each server.
        reasons: Vec<String>,
    },
    /// Something is in a state from which it does not recover by itself.
    #[error("{object} on {host} cannot be used: {state}")]
    State {
        /// What.
        object: String,
        /// The server.
        host: String,
        /// In which.
        state: String,
    },
    /// Something could not be done to a partition.
    #[error(transparent)]
    Compute(Box<crate::compute::Error>),
    /// There is no image.
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// What a console says when it refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The status that the answer itself names, which counts more than the one of the status line.
    pub status: u16,
    /// A sentence about the kind of trouble.
    pub reason: String,
    /// What exactly, often with a code.
    pub message: String,
    /// How long the console asks to wait before the next attempt.
    pub retry_after: Option<Duration>,
}

impl Fault {
    /// Whether a VIOS is busy with something else, and trying again helps.
    pub fn is_busy(&self) -> bool {
        // The codes are the only sign there is: a busy VIOS is reported with any status.
        BUSY.iter().any(|code| self.message.contains(code))
            || self.status == 503
            || self.status == 500 && self.message.to_lowercase().contains("busy")
    }

    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        match self.status {
            _ if self.is_busy() => ErrorClass::Locked,
            _ if self.message.contains(FULL) => ErrorClass::Capacity,
            401 | 403 => ErrorClass::Auth,
            404 => ErrorClass::NotFound,
            409 | 412 | 423 => ErrorClass::Locked,
            429 => ErrorClass::Throttled,
            status if status >= 500 => ErrorClass::Transient,
            _ => ErrorClass::Invalid,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}", self.status)?;
        for words in [&self.reason, &self.message] {
            if !words.is_empty() {
                write!(f, ": {}", words.trim_end_matches('.'))?;
            }
        }
        Ok(())
    }
}

impl Error {
    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Exchange { source, .. } => source.class(),
            Self::Fault { fault, .. } => fault.class(),
            Self::Logon { .. } | Self::TokenFile { .. } | Self::NoCredentials { .. } | Self::Incomplete { .. } => {
                ErrorClass::Auth
            }
            Self::Contended { .. } => ErrorClass::Locked,
            Self::JobTimeout { .. } => ErrorClass::Timeout,
            Self::Missing { .. } => ErrorClass::NotFound,
            Self::NoRoom { .. } => ErrorClass::Capacity,
            Self::Unasked { source, .. } => source.class(),
            Self::Compute(error) => error.class(),
            Self::Image(error) => error.class(),
            Self::Job { message, .. } if BUSY.iter().any(|code| message.contains(code)) => ErrorClass::Locked,
            Self::Job { message, .. } if message.contains(FULL) => ErrorClass::Capacity,
            Self::Address { .. }
            | Self::Xml { .. }
            | Self::Answer { .. }
            | Self::Job { .. }
            | Self::File { .. }
            | Self::NoHome
            | Self::Credentials { .. }
            | Self::NoHosts
            | Self::UnknownHost { .. }
            | Self::Foreign { .. }
            | Self::Lacks { .. }
            | Self::State { .. } => ErrorClass::Invalid,
        }
    }

    /// Returns how long the console asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Exchange { source, .. } => source.retry_after(),
            Self::Fault { fault, .. } => fault.retry_after,
            Self::Unasked { source, .. } => source.retry_after(),
            Self::Compute(error) => error.retry_after(),
            _ => None,
        }
    }

    /// What to do about it, if that can be said.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Logon { .. } => Some("check --user and the password in POWERVM_PASSWORD"),
            Self::TokenFile { .. } => {
                Some("give --user and a password in POWERVM_PASSWORD, or run this on the management partition")
            }
            Self::Exchange { .. } if self.class() == ErrorClass::Invalid => {
                Some("--ca-file names the certificate authority of the console; --insecure trusts anybody")
            }
            Self::Contended { .. } => Some("run the command again when less is going on"),
            Self::NoHome | Self::NoCredentials { .. } | Self::Credentials { .. } | Self::Incomplete { .. } => Some(
                "the credentials file has user and password for all servers, or below 'hosts' and the name of one; \
                 POWERVM_CONFIG names another file",
            ),
            Self::Unasked { .. } => Some("bring the server's NovaLink up, or reach it, and run the command again"),
            Self::NoHosts => Some("write the address of each server below its name in 'hosts' of the credentials file"),
            _ => None,
        }
    }
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
    fn a_busy_vios_is_locked_whatever_the_status_says() {
        let fault = |status, message: &str| Fault {
            status,
            reason: String::new(),
            message: message.to_owned(),
            retry_after: None,
        };
        for busy in
            [fault(400, "HSCL3205 wait"), fault(500, "x VIOS0014"), fault(500, "The system is Busy"), fault(503, "")]
        {
            assert_eq!(busy.class(), ErrorClass::Locked, "{busy}");
        }
        assert_eq!(fault(500, "broken").class(), ErrorClass::Transient);
        assert_eq!(fault(400, "HSCL0A21 no").class(), ErrorClass::Invalid);
        assert_eq!(fault(400, "HSCL0505: There are not enough resources").class(), ErrorClass::Capacity);
        assert_eq!(fault(412, "").class(), ErrorClass::Locked);
    }

    #[test]
    fn what_the_console_asks_to_wait_is_passed_on() {
        let (asked, console) = (Some(Duration::from_secs(7)), || "novalink".to_owned());
        let fault =
            || Box::new(Fault { status: 429, reason: String::new(), message: String::new(), retry_after: asked });
        let direct = || Error::Fault { attempt: "x".to_owned(), console: console(), fault: fault() };
        let compute = crate::compute::Error::console("x", "host-1", direct());
        for error in [
            direct(),
            Error::Unasked { host: console(), source: Box::new(direct()) },
            Error::Compute(Box::new(compute)),
        ] {
            let error = StepError::from(error);
            assert_eq!((error.class(), error.wait()), (ErrorClass::Throttled, asked), "{error}");
        }
        assert_eq!(StepError::from(crate::compute::Error::console("x", "host-1", direct())).wait(), asked);
    }
}
