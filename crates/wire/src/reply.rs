//! What a server answered.

use std::{num::NonZeroU32, time::Duration};

use bytes::Bytes;
use reqwest::{
    Method, StatusCode,
    header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER},
};
use serde::de::DeserializeOwned;
use url::Url;

use crate::Error;

/// What a server answered, whatever the status.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) contents: Bytes,
}

impl Reply {
    /// The status.
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// A header, if it is there and readable.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns how long the server asks to wait before the next attempt, if it does.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after_secs().map(|secs| Duration::from_secs(secs.get().into()))
    }

    fn retry_after_secs(&self) -> Option<NonZeroU32> {
        seconds_to(self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim(), jiff::Timestamp::now())
    }

    /// The contents as they came.
    pub fn contents(&self) -> &[u8] {
        &self.contents
    }

    /// Whether this is a page for people rather than data for programs.
    pub fn is_web_page(&self) -> bool {
        let declared = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        match declared {
            Some(kind) => kind.trim_start().to_ascii_lowercase().starts_with("text/html"),
            None => self.contents.trim_ascii_start().starts_with(b"<!") || self.contents.starts_with(b"<html"),
        }
    }

    /// The reply itself if its status says success, else an error that says what was answered.
    pub fn successful(self) -> Result<Self, Error> {
        if self.status.is_success() && !self.is_web_page() { Ok(self) } else { Err(self.refusal()) }
    }

    /// The contents as JSON. A failure says where in the document it lies.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let mut document = serde_json::Deserializer::from_slice(&self.contents);
        serde_path_to_error::deserialize(&mut document)
            .map_err(|source| Error::Decode { url: self.url.clone(), source: Box::new(source) })
    }

    /// This reply as an error, for callers that have read it and know better than its status.
    pub fn refusal(self) -> Error {
        if let Some(target) = self.headers.get(LOCATION).and_then(|value| value.to_str().ok())
            && self.status.is_redirection()
        {
            return Error::Redirect { url: self.url, target: target.to_owned() };
        }
        // Proxies send pages with these too, and they say something about the moment and not about the address.
        let passing = matches!(
            self.status,
            StatusCode::UNAUTHORIZED
                | StatusCode::REQUEST_TIMEOUT
                | StatusCode::CONFLICT
                | StatusCode::TOO_MANY_REQUESTS
        );
        if self.is_web_page() && !passing && !self.status.is_server_error() {
            return Error::WebPage { title: title(&self.contents), status: self.status(), url: self.url };
        }
        Error::Status {
            retry_after_secs: self.retry_after_secs(),
            method: self.method,
            status: self.status,
            url: self.url,
        }
    }
}

/// Returns the seconds that a `Retry-After` stands for: a number, however large, or a date (RFC 9110, 10.2.3).
fn seconds_to(text: &str, now: jiff::Timestamp) -> Option<NonZeroU32> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return NonZeroU32::new(text.parse().unwrap_or(u32::MAX));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    // A date that has passed asks for nothing.
    NonZeroU32::new(u32::try_from((date.as_second() - now.as_second()).max(0)).unwrap_or(u32::MAX))
}

/// The title of a web page, which tells a person what answered instead of the API.
fn title(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    let lower = page.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|start| {
        let start = start + lower[start..].find('>')? + 1;
        let end = start + lower[start..].find("</title")?;
        Some(page[start..end].split_whitespace().collect::<Vec<_>>().join(" "))
    });
    title.filter(|title| !title.is_empty()).unwrap_or_else(|| "without a title".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_wait_is_a_number_or_a_date() {
        let now = "1994-11-06T08:49:00Z".parse().unwrap();
        for (text, seconds) in [
            ("7", Some(7)),
            ("86400", Some(86_400)),
            ("99999999999", Some(u32::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(37)),
            ("Sun, 06 Nov 1994 08:48:00 GMT", None),
            ("0", None),
            ("", None),
            ("soon", None),
            ("-5", None),
        ] {
            assert_eq!(seconds_to(text, now).map(NonZeroU32::get), seconds, "{text}");
        }
    }

    #[test]
    fn the_title_of_a_page_is_found_or_not() {
        assert_eq!(title(b"<html><TITLE lang=en>\n Welcome to\n nginx! </TITLE>"), "Welcome to nginx!");
        for page in [&b"<html><body>hello"[..], b"<title>", b"<title></title>", b"<title", b"\xff\xfe<title>x"] {
            assert_eq!(title(page), "without a title", "{page:?}");
        }
    }
}
