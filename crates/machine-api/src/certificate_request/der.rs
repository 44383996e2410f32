//! Strict reader of DER: definite lengths in their shortest form, one tag per place, nothing left over. Two parsers can disagree only about
//! bytes that have more than one reading, so none of those pass here.

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const PRINTABLE_STRING: u8 = 0x13;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
/// `[0]` of a request, around its attributes.
pub(super) const ATTRIBUTES: u8 = 0xa0;
/// `dNSName` of a `GeneralName`.
pub(super) const DNS_NAME: u8 = 0x82;
/// `iPAddress` of a `GeneralName`.
pub(super) const IP_ADDRESS: u8 = 0x87;

/// Bytes that are read element after element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns true if everything was read.
    pub(super) fn is_at_end(self) -> bool {
        self.0.is_empty()
    }

    /// Reads the next element, whatever its tag: the tag and the contents.
    pub(super) fn any(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        // A tag number above 30 takes more bytes; no request of a kubelet has one.
        if tag & 0x1f == 0x1f {
            return None;
        }
        let (length, rest) = length(rest)?;
        let (contents, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, contents))
    }

    /// Reads the next element, which has this tag.
    pub(super) fn element(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.any().filter(|(found, _)| *found == tag).map(|(_, contents)| contents)
    }

    /// Reads the next element, which has this tag and holds elements.
    pub(super) fn inside(&mut self, tag: u8) -> Option<Self> {
        self.element(tag).map(Self)
    }

    /// Reads the next element, which has this tag and these contents.
    pub(super) fn exactly(&mut self, tag: u8, contents: &[u8]) -> Option<()> {
        (self.element(tag)? == contents).then_some(())
    }

    /// Ends the reading; none if something is left over.
    pub(super) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// Reads a length in its shortest form, of at most 64 KiB.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    match first {
        0..=0x7f => Some((usize::from(first), rest)),
        0x81 => {
            let (&value, rest) = rest.split_first()?;
            (value >= 0x80).then_some((usize::from(value), rest))
        }
        0x82 => {
            let (value, rest) = rest.split_first_chunk::<2>()?;
            let value = u16::from_be_bytes(*value);
            (value > 0xff).then_some((usize::from(value), rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_has_one_encoding() {
        let read = |bytes: &[u8]| Reader::new(bytes).element(OCTET_STRING).map(<[u8]>::to_vec);
        assert_eq!(read(&[4, 1, 7]), Some(vec![7]));
        let long = |header: &[u8], length: usize| read(&[header, &vec![0; length]].concat()).map(|read| read.len());
        assert_eq!((long(&[4, 0x81, 0x80], 128), long(&[4, 0x82, 1, 0], 256)), (Some(128), Some(256)));
        for other in
            [&[4, 0x81, 1, 7][..], &[4, 0x82, 0, 1, 7], &[4, 0x80, 7, 0, 0], &[4, 2, 7], &[4], &[], &[0x1f, 4, 0]]
        {
            assert_eq!(read(other), None, "{other:?}");
        }
        assert_eq!((long(&[4, 0x82, 0, 0x80], 128), long(&[4, 0x83, 0, 1, 0], 256)), (None, None));
    }

    #[test]
    fn what_is_left_over_is_noticed() {
        let mut reader = Reader::new(&[5, 0, 9]);
        assert_eq!(reader.exactly(5, &[]), Some(()));
        assert!(!reader.is_at_end() && reader.end().is_none());
    }
}
