//! Names for things: ids, addresses, numbers, each made from what it belongs to, so that the same world has the same names.

use sha2::{Digest, Sha256};

/// A digest of words.
fn digest(words: &[&str]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for word in words {
        hasher.update(word.len().to_le_bytes());
        hasher.update(word.as_bytes());
    }
    hasher.finalize().into()
}

/// An id, lower case, of the kind that is made from names.
pub(crate) fn uuid(words: &[&str]) -> String {
    let digest = digest(words);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x30;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    uuid::Uuid::from_bytes(bytes).to_string()
}

/// The id of a partition: upper case, the first bit clear.
pub(crate) fn partition_uuid(words: &[&str]) -> String {
    let mut id = uuid(words).to_uppercase();
    let first = id.chars().next().and_then(|digit| digit.to_digit(16)).unwrap_or_default() & 7;
    id.replace_range(..1, &first.to_string());
    id
}

/// Some hexadecimal digits, lower case.
pub(crate) fn hex(words: &[&str], length: usize) -> String {
    let mut text = crate::core::hex::encode(&digest(words));
    text.truncate(length);
    text
}

/// A locally administered hardware address, 12 digits, upper case.
pub(crate) fn mac(words: &[&str]) -> String {
    let mut digits = hex(words, 12).to_uppercase();
    digits.replace_range(1..2, "A");
    digits
}

/// An entity tag: a signed number of 32 bits.
pub(crate) fn etag(text: &str) -> String {
    let digest = digest(&[text]);
    i32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_look_as_they_should() {
        let id = partition_uuid(&["a"]);
        assert_eq!(id, id.to_uppercase());
        assert!(id.as_bytes()[0] < b'8');
        assert_ne!(uuid(&["ab", "c"]), uuid(&["a", "bc"]));
        assert_eq!(mac(&["x"]).len(), 12);
    }
}
