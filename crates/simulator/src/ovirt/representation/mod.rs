//! The representation of the API's types: one table of elements per type, and readers and writers for XML and JSON.

mod json;
mod read;
mod schema;
mod tree;
pub(crate) mod types;
mod write;
mod xml;

pub(crate) use read::{ReadError, Unknown};
pub(crate) use schema::Type;
#[cfg(test)]
pub(crate) use schema::{Field, Kind};
pub(crate) use tree::{Tree, Value};
pub(crate) use write::{Format, Out, decimal};

/// Reads a document of `kind` in the given syntax.
pub(crate) fn read(format: Format, body: &[u8], kind: &'static Type, unknown: Unknown) -> Result<Tree, ReadError> {
    match format {
        Format::Xml => xml::read(body, kind, unknown),
        Format::Json => json::read(body, kind, unknown),
    }
}
