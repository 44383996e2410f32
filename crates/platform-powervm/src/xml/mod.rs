//! XML as a tree that loses nothing.
//!
//! Nearly every change on this platform is "read the whole object, edit it, send it back", and the server takes what is
//! missing in the new version for something to remove: a disk mapping, a network. So a document keeps all that was in it,
//! understood or not: elements, attributes, prefixes, namespace declarations, order, comments and blanks.
//!
//! Document types are refused, and with them every entity but the five predefined ones: nothing can grow while it is read.

mod element;
mod read;
mod write;

pub use element::{Element, Name, Node};
pub use read::ReadError;

/// A document: what stands before the root, the root, and what stands after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Comments, instructions and the declaration before the root, as they were written.
    pub(crate) before: Vec<Node>,
    /// The root.
    pub root: Element,
    /// Comments and instructions after the root.
    pub(crate) after: Vec<Node>,
}

impl Document {
    /// A document that is nothing but its root.
    pub fn new(root: Element) -> Self {
        Self { before: Vec::new(), root, after: Vec::new() }
    }

    /// Reads a document.
    pub fn parse(text: &[u8]) -> Result<Self, ReadError> {
        read::read(text)
    }
}
