//! The `Range` and `Content-Range` headers, as strictly as imageio takes them: a range that is misunderstood corrupts an
//! image.

use super::refusal::Refusal;

/// What a `Range` header asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteRange {
    pub(super) first: u64,
    /// None: to the end.
    pub(super) last: Option<u64>,
}

impl ByteRange {
    pub(super) fn parse(header: &str) -> Result<Self, Refusal> {
        let bad = |why: &str| Refusal::range(format!("Cannot satisfy range '{header}', {why}"), None);
        let (first, last) = header
            .strip_prefix("bytes=")
            .and_then(|range| range.split_once('-'))
            .ok_or_else(|| bad("invalid range or multiple ranges"))?;
        let number = |text: &str| {
            if text.is_empty() {
                Ok(None)
            } else {
                digits(text).map(Some).ok_or_else(|| bad("invalid range or multiple ranges"))
            }
        };
        match (number(first)?, number(last)?) {
            (None, None) => Err(bad("no first or last")),
            (None, Some(_)) => Err(Refusal::range("suffix-byte-range-spec not supported yet".to_owned(), None)),
            (Some(first), Some(last)) if first > last => Err(bad("first > last")),
            (Some(first), last) => Ok(Self { first, last }),
        }
    }
}

/// Where the body of an upload starts, by its `Content-Range` header.
pub(super) fn content_range_start(header: &str) -> Result<u64, Refusal> {
    let bad = |why: &str| Refusal::bad_request(format!("Invalid Content-Range '{header}'{why}"));
    let parse = || {
        let (range, complete) = header.strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let or_star = |text: &str| if text == "*" { Some(None) } else { digits(text).map(Some) };
        Some((digits(first)?, or_star(last)?, or_star(complete)?))
    };
    match parse().ok_or_else(|| bad(""))? {
        (first, Some(last), _) if last < first => Err(bad(", first > last")),
        (_, Some(last), Some(complete)) if last >= complete => Err(bad(", last >= complete")),
        (first, _, _) => Ok(first),
    }
}

/// Digits and nothing else: `parse` alone would take a sign.
fn digits(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(ByteRange::parse("bytes=0-99").unwrap(), ByteRange { first: 0, last: Some(99) });
        assert_eq!(ByteRange::parse("bytes=7-").unwrap(), ByteRange { first: 7, last: None });
        let bad =
            ["", "0-1", "bytes=-", "bytes=-5", "bytes=5-4", "bytes=0-1,3-4", "bytes=+1-2", "bytes=1-2 ", "Bytes=1-2"];
        for header in bad {
            assert_eq!(ByteRange::parse(header).unwrap_err().status(), 416, "{header}");
        }
    }

    #[test]
    fn content_ranges() {
        assert_eq!(content_range_start("bytes 5-9/*").unwrap(), 5);
        assert_eq!(content_range_start("bytes 5-*/*").unwrap(), 5);
        assert_eq!(content_range_start("bytes 5-9/10").unwrap(), 5);
        for header in ["", "5-9", "bytes 5-4/*", "bytes 5-9/9", "bytes */9", "bytes -5-9/*", "bytes=5-9/*", "bytes 5-9"]
        {
            assert_eq!(content_range_start(header).unwrap_err().status(), 400, "{header}");
        }
    }
}
