//! Requests that are nearly right.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    random::Random,
    tree::{Contents, Element, Length},
};

const BEGIN: &str = "-----BEGIN CERTIFICATE REQUEST-----";
const END: &str = "-----END CERTIFICATE REQUEST-----";

const OID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e];
const CHALLENGE_PASSWORD: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x07];
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const OTHER: &str = "api-int.demo.example.com";
/// Tags that mean something at one place or another.
const TAGS: &[u8] = &[
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x12, 0x13, 0x14, 0x16, 0x1a, 0x1e, 0x24, 0x2c, 0x30, 0x31, 0x80, 0x81,
    0x82, 0x84, 0x86, 0x87, 0xa0, 0xa1, 0xa2, 0xa4, 0xa7, 0x1f, 0x9f,
];

/// Makes requests from others.
pub(crate) struct Mutator {
    bases: Vec<Element>,
    words: Vec<Element>,
    random: Random,
}

impl Mutator {
    pub(crate) fn new(bases: &[Vec<u8>], random: Random) -> Self {
        let bases = bases.iter().map(|pem| Element::read(&unwrap(pem))).collect();
        Self { bases, words: words(), random }
    }

    /// Makes the next request.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut request = self.random.choose(&self.bases).clone();
        let times = self.random.below(4);
        for _ in 0..times {
            self.change(&mut request);
        }
        let mut der = Vec::with_capacity(600);
        request.write(&mut der);
        match self.random.below(40) {
            0 => der.push(self.random.byte()),
            1 => der.truncate(self.random.below(der.len() + 1)),
            2 => {
                let place = self.random.below(der.len());
                der[place] = self.random.byte();
            }
            _ => {}
        }
        self.wrap(&der)
    }

    fn change(&mut self, request: &mut Element) {
        let number = self.random.below(request.count());
        let random = &mut self.random;
        let word = random.choose(&self.words).clone();
        let element = request.at(number);
        match (random.below(8), &mut element.contents) {
            (0, _) => element.tag = *random.choose(TAGS),
            (1, _) => {
                let forms = [Length::Long, Length::Indefinite, Length::Off(1), Length::Off(-1)];
                element.length = *random.choose(&forms);
            }
            (2, _) => *element = word,
            (3 | 4, Contents::Elements(elements)) => elements.insert(random.below(elements.len() + 1), word),
            (5, Contents::Elements(elements)) if !elements.is_empty() => {
                elements.remove(random.below(elements.len()));
            }
            (6, Contents::Elements(elements)) if !elements.is_empty() => {
                let twin = random.choose(elements).clone();
                elements.insert(random.below(elements.len() + 1), twin);
            }
            (_, Contents::Elements(elements)) if elements.len() > 1 => {
                let (one, other) = (random.below(elements.len()), random.below(elements.len()));
                elements.swap(one, other);
            }
            (3, Contents::Bytes(bytes)) => bytes.insert(random.below(bytes.len() + 1), random.byte()),
            (4, Contents::Bytes(bytes)) => bytes.truncate(random.below(bytes.len() + 1)),
            (5, Contents::Bytes(bytes)) => {
                bytes.extend_from_slice(random.choose(&[".example.com", "\0", "*", "X"]).as_bytes());
            }
            (_, Contents::Bytes(bytes)) if !bytes.is_empty() => {
                let place = random.below(bytes.len());
                bytes[place] = if random.once_in(2) { random.byte() } else { *random.choose(b"aZ09-.:_ *@/\0") };
            }
            _ => {}
        }
    }

    /// Writes PEM, not always well.
    fn wrap(&mut self, der: &[u8]) -> Vec<u8> {
        let random = &mut self.random;
        let (width, end) = match random.below(60) {
            0 => (76, "\n"),
            1 => (64, "\r\n"),
            2 => (1 + random.below(80), "\n"),
            _ => (64, "\n"),
        };
        let mut pem = lines(der, width, end).into_bytes();
        match random.below(60) {
            0 => pem.splice(0..0, *b"hello\n").for_each(drop),
            1 => pem.extend_from_slice(b"\n"),
            2 => {
                let place = random.below(pem.len());
                pem[place] = *random.choose(b" \n=-A\t");
            }
            3 => {
                // A block that cannot be decoded, before one that can: some readers go on.
                let broken = format!("{BEGIN}\n!\n{END}\n").into_bytes();
                pem.splice(0..0, broken).for_each(drop);
            }
            4 => {
                let place = BEGIN.len() + 1;
                pem.splice(place..place, random.choose(&["Proc-Type: 4\n\n", "A: B\nC: D\n \n\n"]).bytes())
                    .for_each(drop);
            }
            5 => {
                let again = pem.clone();
                pem.extend_from_slice(&again);
            }
            6 => pem.insert(random.below(pem.len() + 1), *random.choose(b" \n\r\t-")),
            _ => {}
        }
        pem
    }
}

/// Requests in which Go sees the name of the API, where a hasty reader sees others or none.
pub(crate) fn forgeries(pem: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let forge = |attributes: Vec<Element>| {
        let mut request = Element::read(&unwrap(pem));
        // Version, subject and key come before.
        *request.children()[0].children()[3].children() = attributes;
        let mut der = Vec::new();
        request.write(&mut der);
        lines(&der, 64, "\n").into_bytes()
    };
    let empty = || attribute(EXTENSION_REQUEST, vec![]);
    let nothing = || attribute(EXTENSION_REQUEST, vec![Element::with(SEQUENCE, vec![])]);
    let password = || attribute(CHALLENGE_PASSWORD, vec![Element::bytes(0x13, b"hello")]);
    vec![
        ("an empty set before it", forge(vec![empty(), requesting(OTHER)])),
        ("no extensions before it", forge(vec![nothing(), requesting(OTHER)])),
        ("another attribute before it", forge(vec![password(), requesting(OTHER)])),
        ("an empty set behind it", forge(vec![requesting(OTHER), empty()])),
        ("other extensions behind it, in the same set", forge(vec![two_values()])),
    ]
}

fn two_values() -> Element {
    let mut attribute = requesting(OTHER);
    attribute.children()[1].children().push(Element::with(SEQUENCE, vec![names("demo-x7k2p-worker-abc")]));
    attribute
}

/// What is put where it does not belong.
fn words() -> Vec<Element> {
    let name = |tag, text: &[u8]| Element::bytes(tag, text);
    let in_subject = |last, tag, text: &[u8]| {
        let pair = Element::with(SEQUENCE, vec![Element::bytes(OID, &[0x55, 4, last]), name(tag, text)]);
        Element::with(SET, vec![pair])
    };
    vec![
        attribute(EXTENSION_REQUEST, vec![]),
        attribute(EXTENSION_REQUEST, vec![Element::with(SEQUENCE, vec![])]),
        attribute(CHALLENGE_PASSWORD, vec![Element::bytes(0x13, b"hello")]),
        requesting(OTHER),
        requesting("demo-x7k2p-worker-abc"),
        two_values(),
        names(OTHER),
        Element::with(SEQUENCE, vec![Element::bytes(OID, &[0x55, 0x1d, 0x13]), name(0x04, &[0x30, 3, 1, 1, 0xff])]),
        Element::with(SET, vec![]),
        Element::with(SEQUENCE, vec![]),
        Element::bytes(0x01, &[0xff]),
        Element::bytes(0x01, &[0]),
        Element::bytes(0x05, &[]),
        Element::bytes(OID, SUBJECT_ALT_NAME),
        Element::bytes(OID, EXTENSION_REQUEST),
        name(0x82, OTHER.as_bytes()),
        name(0x82, b"*.example.com"),
        name(0x82, b""),
        name(0x81, b"root@example.com"),
        name(0x86, b"https://api-int.demo.example.com/"),
        name(0x87, &[198, 51, 100, 5]),
        name(0x87, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 51, 100, 5]),
        name(0x87, &[198, 51, 100, 5, 255, 255, 255, 0]),
        Element::with(0xa4, vec![Element::with(SEQUENCE, vec![in_subject(3, 0x13, b"other")])]),
        in_subject(3, 0x13, b"system:node:other"),
        in_subject(3, 0x0c, "system:node:\u{e9}".as_bytes()),
        in_subject(3, 0x14, b"system:node:t61"),
        in_subject(3, 0x1e, b"\0s\0y"),
        in_subject(10, 0x13, b"system:masters"),
        in_subject(10, 0x0c, b"system:nodes"),
        in_subject(5, 0x13, b"serial"),
        in_subject(11, 0x13, b"unit"),
    ]
}

fn attribute(kind: &[u8], values: Vec<Element>) -> Element {
    Element::with(SEQUENCE, vec![Element::bytes(OID, kind), Element::with(SET, values)])
}

/// The attribute that asks for a name.
fn requesting(name: &str) -> Element {
    attribute(EXTENSION_REQUEST, vec![Element::with(SEQUENCE, vec![names(name)])])
}

/// The extension with a name.
fn names(name: &str) -> Element {
    let list = Element::with(SEQUENCE, vec![Element::bytes(0x82, name.as_bytes())]);
    Element::with(SEQUENCE, vec![Element::bytes(OID, SUBJECT_ALT_NAME), Element::with(0x04, vec![list])])
}

fn lines(der: &[u8], width: usize, end: &str) -> String {
    let text = STANDARD.encode(der);
    let mut pem = String::with_capacity(text.len() + 120);
    pem.push_str(BEGIN);
    pem.push_str(end);
    for line in text.as_bytes().chunks(width) {
        pem.push_str(std::str::from_utf8(line).expect("base64 is ASCII"));
        pem.push_str(end);
    }
    pem.push_str(END);
    pem.push_str(end);
    pem
}

fn unwrap(pem: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(pem).expect("PEM is text");
    let base64: String = text.lines().filter(|line| !line.starts_with('-')).collect();
    STANDARD.decode(base64).expect("the request is well formed")
}
