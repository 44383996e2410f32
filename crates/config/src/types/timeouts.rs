//! How long each phase may take.

use std::{fmt, str::FromStr, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long each phase of the installation may take. A wait that ran out can be resumed with `landfall wait-for`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Timeouts {
    /// Upload of the operating system image and making of the template.
    pub image: Span,
    /// Creation and start of one machine.
    pub machine: Span,
    /// Until the name servers of the zone have the cluster's DNS records; also how long records that you make yourself are
    /// waited for.
    pub dns: Span,
    /// Until the Kubernetes API first answers.
    pub api: Span,
    /// Until the control plane has moved from the bootstrap machine to the masters.
    pub bootstrap: Span,
    /// Until all nodes are ready and, on OpenShift and OKD, the cluster version is available.
    pub install: Span,
    /// Removal of one object.
    pub destroy: Span,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            image: Span::minutes(60),
            machine: Span::minutes(20),
            dns: Span::minutes(30),
            api: Span::minutes(20),
            bootstrap: Span::minutes(60),
            install: Span::minutes(60),
            destroy: Span::minutes(20),
        }
    }
}

/// A length of time, written with units: `90s`, `20m`, `1h30m`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", example = "20m", extend("format" = "span"))]
pub struct Span(Duration);

impl Span {
    /// A length of whole minutes.
    pub const fn minutes(minutes: u64) -> Self {
        Self(Duration::from_secs(minutes * 60))
    }

    /// As the standard type.
    pub fn duration(self) -> Duration {
        self.0
    }
}

/// Why a text is not a length of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a length of time like 90s, 20m or 1h30m")]
pub struct SpanError(String);

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let wrong = || SpanError(text.to_owned());
        let mut total: u64 = 0;
        let mut smallest_so_far = u64::MAX;
        let mut rest = text;
        if rest.is_empty() {
            return Err(wrong());
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
            let count: u64 = rest[..digits].parse().map_err(|_| wrong())?;
            let unit = match rest[digits..].chars().next() {
                Some('h') => 3600,
                Some('m') => 60,
                Some('s') => 1,
                _ => return Err(wrong()),
            };
            if unit >= smallest_so_far {
                return Err(wrong());
            }
            smallest_so_far = unit;
            total = count.checked_mul(unit).and_then(|seconds| total.checked_add(seconds)).ok_or_else(wrong)?;
            rest = &rest[digits + 1..];
        }
        Ok(Self(Duration::from_secs(total)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        if h > 0 {
            write!(f, "{h}h")?;
        }
        if m > 0 {
            write!(f, "{m}m")?;
        }
        if s > 0 || seconds == 0 {
            write!(f, "{s}s")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<String> for Span {
    type Error = SpanError;

    fn try_from(text: String) -> Result<Self, SpanError> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_units() {
        for (text, seconds) in [("90s", 90), ("20m", 1200), ("1h30m", 5400), ("2h5s", 7205), ("0s", 0)] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.duration().as_secs(), seconds, "{text}");
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
        }
    }

    #[test]
    fn refuses_what_is_no_length_of_time() {
        for text in
            ["", "20", "m", "20x", "-5m", "30m1h", "1h1h", "99999999999999999999h", "9999999999999999999h", "1.5h"]
        {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
