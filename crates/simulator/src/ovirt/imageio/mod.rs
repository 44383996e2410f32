//! The image data endpoint of an oVirt engine and its hosts (`ovirt-imageio`): real bytes in, real bytes out.
//!
//! The engine hands out tickets; a client that knows the id of one may read or write that image here, in ranges and over
//! several connections. The same endpoint stands for the daemon on a host (`transfer_url`) and for the proxy beside the
//! engine (`proxy_url`).
//!
//! - [`ImageStore`] keeps the images as sparse files. The engine copies, removes and verifies images through it.
//! - [`ImageIo`] is the HTTP service. It asks the engine about tickets through [`Tickets`].
//!
//! Not simulated: the local Unix socket, dirty extents (incremental backup), CORS headers for browsers.

mod activity;
mod checksum;
mod download;
mod image;
mod images;
mod qcow2;
mod range;
mod refusal;
mod service;
mod sparse;
mod store;
#[cfg(test)]
mod tests;
mod ticket;
mod upload;

pub use images::{BlankImages, Images};
pub use qcow2::Qcow2Error;
pub use service::ImageIo;
pub use sparse::Extent;
pub use store::{Format, ImageError, ImageStore};
pub use ticket::{Denied, Progress, Ticket, Tickets};
