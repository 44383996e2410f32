//! Percent-encoded text.

/// Text with its escapes resolved; what is no escape stays as it is.
pub(crate) fn percent_decode(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let coded = (first == b'%').then(|| after.get(..2)).flatten();
        let coded = coded.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        if let Some(byte) = coded {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
