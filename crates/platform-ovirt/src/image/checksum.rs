//! The checksum by which imageio shows what an image holds: the digest of the digests of its blocks.

use std::{fmt::Write, io};

use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes in a block; imageio's own default.
pub(super) const BLOCK: usize = 4 << 20;

/// The checksum of all that can be read, in hexadecimal. The last block may be shorter.
pub(super) async fn checksum(mut contents: impl AsyncRead + Unpin) -> io::Result<String> {
    let mut whole = Sha256::new();
    let mut block = Vec::with_capacity(BLOCK);
    loop {
        block.clear();
        (&mut contents).take(BLOCK as u64).read_to_end(&mut block).await?;
        if block.is_empty() {
            return Ok(hex(&whole.finalize()));
        }
        whole.update(Sha256::digest(&block));
    }
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with Python's hashlib: `sha256(b"".join(sha256(block).digest() for block in blocks))`.
    #[tokio::test]
    async fn agrees_with_another_implementation() {
        let mut bytes = vec![7_u8; BLOCK];
        bytes.extend(b"the rest");
        for (expected, contents) in EXPECTED.into_iter().zip([&b""[..], b"one block", &bytes]) {
            assert_eq!(checksum(contents).await.unwrap(), expected);
        }
    }

    const EXPECTED: [&str; 3] = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "cd33705e5c8c9016230fdbe9a2fca8ed1dcdcdb0ca8f6c30118f293ad8640cb9",
        "c761f5d79769f18ffb3ac9c0f9714c15ed65cb5f7c0160003d0d69bb7fea74ac",
    ];
}
