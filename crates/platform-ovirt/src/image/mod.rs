//! Operating system images: where they come from, and how their bytes get into an engine.

mod checksum;
mod qcow2;
mod source;
mod upload;

pub(crate) use qcow2::Header;
pub(crate) use source::{Image, fetch};
pub(crate) use upload::{Endpoint, upload};
