//! Contents of a request, in the single form in which kubelets write it.
//!
//! The certificate is signed by another program, the controller manager, which reads the request with a parser of its own: Go's. What that parser
//! skips, merges or forgives must not reach it, or it would sign names that were never judged here. So there is no tolerance: subject of `O` and `CN`,
//! a P-256 key, at most one attribute, in it one extension with names, and every byte accounted for. `tests/signer` compares both parsers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::der::{
    ATTRIBUTES, BIT_STRING, DNS_NAME, INTEGER, IP_ADDRESS, OBJECT_IDENTIFIER, OCTET_STRING, PRINTABLE_STRING, Reader,
    SEQUENCE, SET, UTF8_STRING,
};

const BEGIN: &str = "-----BEGIN CERTIFICATE REQUEST-----\n";
const END: &str = "-----END CERTIFICATE REQUEST-----\n";
/// Characters of a line of PEM.
const LINE: usize = 64;
/// A node has a handful of names and addresses.
const LONGEST: usize = 16 << 10;

/// `id-ecPublicKey`, `prime256v1`, `ecdsa-with-SHA256`: what kubelets use, always.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// Bytes of an uncompressed point of P-256.
const POINT: usize = 65;

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
/// `extensionRequest` of PKCS #9.
const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e];
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];

/// Contents of a request.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) common_name: String,
    pub(super) organizations: Vec<String>,
    pub(super) names: Vec<String>,
    pub(super) addresses: Vec<IpAddr>,
}

impl Contents {
    /// Reads a request in PEM form; none unless it has the form of those of kubelets. The signer checks the signature.
    pub(super) fn read(pem: &[u8]) -> Option<Self> {
        let der = decode(pem)?;
        let mut outer = Reader::new(&der);
        let mut request = outer.inside(SEQUENCE)?;
        outer.end()?;
        let mut info = request.inside(SEQUENCE)?;
        let mut algorithm = request.inside(SEQUENCE)?;
        algorithm.exactly(OBJECT_IDENTIFIER, ECDSA_WITH_SHA256)?;
        algorithm.end()?;
        whole_bytes(request.element(BIT_STRING)?)?;
        request.end()?;

        info.exactly(INTEGER, &[0])?;
        let mut contents = Self::default();
        contents.read_subject(info.inside(SEQUENCE)?)?;
        read_key(info.inside(SEQUENCE)?)?;
        contents.read_attributes(info.inside(ATTRIBUTES)?)?;
        info.end()?;
        Some(contents)
    }

    fn read_subject(&mut self, mut subject: Reader<'_>) -> Option<()> {
        while !subject.is_at_end() {
            let mut set = subject.inside(SET)?;
            let mut attribute = set.inside(SEQUENCE)?;
            set.end()?;
            let kind = attribute.element(OBJECT_IDENTIFIER)?;
            let (tag, value) = attribute.any()?;
            attribute.end()?;
            if !matches!(tag, PRINTABLE_STRING | UTF8_STRING) {
                return None;
            }
            let value = plain(value)?;
            match kind {
                // A reader of the certificate may take another of them than was judged here.
                COMMON_NAME if self.common_name.is_empty() => self.common_name = value,
                ORGANIZATION => self.organizations.push(value),
                _ => return None,
            }
        }
        (!self.common_name.is_empty()).then_some(())
    }

    fn read_attributes(&mut self, mut attributes: Reader<'_>) -> Option<()> {
        if attributes.is_at_end() {
            return Some(());
        }
        let mut attribute = attributes.inside(SEQUENCE)?;
        attributes.end()?;
        attribute.exactly(OBJECT_IDENTIFIER, EXTENSION_REQUEST)?;
        let mut values = attribute.inside(SET)?;
        attribute.end()?;
        let mut extensions = values.inside(SEQUENCE)?;
        values.end()?;
        let mut extension = extensions.inside(SEQUENCE)?;
        extensions.end()?;
        extension.exactly(OBJECT_IDENTIFIER, SUBJECT_ALT_NAME)?;
        let mut value = Reader::new(extension.element(OCTET_STRING)?);
        extension.end()?;
        let names = value.inside(SEQUENCE)?;
        value.end()?;
        self.read_names(names)
    }

    fn read_names(&mut self, mut names: Reader<'_>) -> Option<()> {
        while !names.is_at_end() {
            match names.any()? {
                (DNS_NAME, name) => self.names.push(dns_name(name)?),
                (IP_ADDRESS, bytes) => self.addresses.push(address(bytes)?),
                _ => return None,
            }
        }
        // An extension without names is nothing that a kubelet writes.
        (!self.names.is_empty() || !self.addresses.is_empty()).then_some(())
    }
}

/// The bytes of a PEM text that holds one block and nothing else, in the form in which kubelets write it. Other readers skip what they cannot
/// decode and go on to the next block.
fn decode(pem: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(pem).ok().filter(|text| text.len() <= LONGEST)?;
    let body = text.strip_prefix(BEGIN)?.strip_suffix(END)?.strip_suffix('\n')?;
    let mut lines = body.split('\n').peekable();
    let mut base64 = String::with_capacity(body.len());
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        if line.len() > LINE || line.is_empty() || (!is_last && line.len() != LINE) {
            return None;
        }
        base64.push_str(line);
    }
    STANDARD.decode(base64).ok()
}

fn read_key(mut key: Reader<'_>) -> Option<()> {
    let mut algorithm = key.inside(SEQUENCE)?;
    algorithm.exactly(OBJECT_IDENTIFIER, EC_PUBLIC_KEY)?;
    algorithm.exactly(OBJECT_IDENTIFIER, P256)?;
    algorithm.end()?;
    let point = whole_bytes(key.element(BIT_STRING)?)?;
    (point.len() == POINT && point.starts_with(&[4])).then_some(())?;
    key.end()
}

/// The bytes of a bit string that ends with a whole byte.
fn whole_bytes(bits: &[u8]) -> Option<&[u8]> {
    bits.strip_prefix(&[0]).filter(|bytes| !bytes.is_empty())
}

/// A text of characters that every string type encodes alike.
fn plain(bytes: &[u8]) -> Option<String> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-.:".contains(byte);
    (!bytes.is_empty() && bytes.iter().all(is_plain)).then(|| bytes.iter().copied().map(char::from).collect())
}

/// A host name: no wildcard, no white space, nothing that a resolver would read differently.
fn dns_name(bytes: &[u8]) -> Option<String> {
    let name = plain(bytes).filter(|name| name.len() <= 253 && !name.contains(':'))?;
    let is_label = |label: &str| (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-');
    name.split('.').all(is_label).then_some(name)
}

/// An address. One of IPv4 in the clothes of IPv6 is signed as the former, so it is none here.
fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(bytes).into());
    }
    let address = Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?);
    address.to_ipv4_mapped().is_none().then_some(address.into())
}
