//! The request log: one JSON object per line and request, without bodies and credentials.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

/// Parts of parameter names whose values are never logged.
const SECRET: [&str; 5] = ["password", "token", "secret", "authorization", "credential"];

/// One line of the log.
#[derive(Debug, Serialize)]
pub(super) struct Entry<'a> {
    /// The simulated time of day.
    pub(super) time: Timestamp,
    /// Which of the simulator's services was called.
    pub(super) service: &'a str,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) query: &'a str,
    /// Null if the connection ended without an answer.
    pub(super) status: Option<u16>,
    /// Real time from the headers of the request to those of the answer.
    pub(super) duration_ms: f64,
    /// The fault that took effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<&'static str>,
}

/// A log that lines are added to.
#[derive(Debug)]
pub(super) struct RequestLog(Mutex<fs_err::File>);

impl RequestLog {
    /// Opens a log at its end.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(Mutex::new(file)))
    }

    /// Adds a line, with a single write so that a reader never sees half of one.
    pub(super) fn record(&self, entry: &Entry<'_>) {
        let mut line = serde_json::to_vec(entry).unwrap_or_default();
        line.push(b'\n');
        let written = self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
        if let Err(error) = written {
            tracing::warn!(%error, "a request could not be logged");
        }
    }
}

/// A duration in milliseconds, to the microsecond.
pub(super) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

/// A query with the values of parameters that look like secrets replaced.
pub(super) fn redact(query: &str) -> String {
    let parameter = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}=***"),
        _ => parameter.to_owned(),
    };
    query.split('&').map(parameter).collect::<Vec<_>>().join("&")
}

fn is_secret(name: &str) -> bool {
    // The name may be percent-encoded to hide it; decoding it as a form does costs nothing here.
    let decoded = url::form_urlencoded::parse(name.as_bytes()).next().map_or_else(String::new, |(name, _)| name.into());
    let lower = decoded.to_ascii_lowercase();
    SECRET.iter().any(|secret| lower.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_logged() {
        let query = "search=name%3Dx&password=p&access_token=t&pass%77ord=q&max=1&Client_Secret=s&token";
        let expected = "search=name%3Dx&password=***&access_token=***&pass%77ord=***&max=1&Client_Secret=***&token";
        assert_eq!(redact(query), expected);
        assert_eq!(redact(""), "");
    }
}
