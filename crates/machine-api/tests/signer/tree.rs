//! DER as a tree whose elements may be written in wrong ways too.

/// An element.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) tag: u8,
    pub(crate) contents: Contents,
    pub(crate) length: Length,
}

#[derive(Clone, Debug)]
pub(crate) enum Contents {
    Bytes(Vec<u8>),
    Elements(Vec<Element>),
}

/// Form of the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// The only one that DER has.
    Shortest,
    /// With leading zeroes.
    Long,
    /// BER's, up to a mark.
    Indefinite,
    /// One more or less than there is.
    Off(i8),
}

impl Element {
    pub(crate) fn bytes(tag: u8, bytes: &[u8]) -> Self {
        Self { tag, contents: Contents::Bytes(bytes.to_vec()), length: Length::Shortest }
    }

    pub(crate) fn with(tag: u8, elements: Vec<Self>) -> Self {
        Self { tag, contents: Contents::Elements(elements), length: Length::Shortest }
    }

    /// Reads one element that is well formed, with all that is in it.
    pub(crate) fn read(der: &[u8]) -> Self {
        let (element, rest) = Self::split(der).expect("the request is well formed");
        assert!(rest.is_empty(), "nothing is left over");
        element
    }

    fn split(der: &[u8]) -> Option<(Self, &[u8])> {
        let (&tag, rest) = der.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte)), rest)
        };
        let (contents, rest) = rest.split_at_checked(length)?;
        // The names are DER inside an octet string.
        let may_hold = tag & 0x20 != 0 || tag == 0x04;
        let contents = match Self::all(contents).filter(|_| may_hold) {
            Some(elements) => Contents::Elements(elements),
            None => Contents::Bytes(contents.to_vec()),
        };
        Some((Self { tag, contents, length: Length::Shortest }, rest))
    }

    fn all(mut der: &[u8]) -> Option<Vec<Self>> {
        let mut elements = Vec::new();
        while !der.is_empty() {
            let (element, rest) = Self::split(der)?;
            elements.push(element);
            der = rest;
        }
        Some(elements)
    }

    /// Writes the element behind `out`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut contents = Vec::new();
        match &self.contents {
            Contents::Bytes(bytes) => contents.extend_from_slice(bytes),
            Contents::Elements(elements) => elements.iter().for_each(|element| element.write(&mut contents)),
        }
        out.push(self.tag);
        let length = contents.len();
        let short = u16::try_from(length).expect("a request is small").to_be_bytes();
        match self.length {
            Length::Shortest => write_length(length, out),
            Length::Long => out.extend_from_slice(&[0x83, 0, short[0], short[1]]),
            Length::Indefinite => {
                out.push(0x80);
                contents.extend_from_slice(&[0, 0]);
            }
            Length::Off(by) => write_length(length.saturating_add_signed(by.into()), out),
        }
        out.extend_from_slice(&contents);
    }

    pub(crate) fn children(&mut self) -> &mut Vec<Self> {
        match &mut self.contents {
            Contents::Elements(elements) => elements,
            Contents::Bytes(_) => panic!("there are no elements in this one"),
        }
    }

    /// Number of elements of the tree.
    pub(crate) fn count(&self) -> usize {
        1 + match &self.contents {
            Contents::Bytes(_) => 0,
            Contents::Elements(elements) => elements.iter().map(Self::count).sum(),
        }
    }

    /// The element with this number, counted from the root.
    pub(crate) fn at(&mut self, number: usize) -> &mut Self {
        if number == 0 {
            return self;
        }
        let Contents::Elements(elements) = &mut self.contents else { panic!("there is no such element") };
        let mut left = number - 1;
        for element in elements {
            let count = element.count();
            if left < count {
                return element.at(left);
            }
            left -= count;
        }
        panic!("there is no such element")
    }
}

fn write_length(length: usize, out: &mut Vec<u8>) {
    let bytes = u16::try_from(length).expect("a request is small").to_be_bytes();
    match length {
        0..=0x7f => out.push(bytes[1]),
        0x80..=0xff => out.extend_from_slice(&[0x81, bytes[1]]),
        _ => out.extend_from_slice(&[0x82, bytes[0], bytes[1]]),
    }
}
