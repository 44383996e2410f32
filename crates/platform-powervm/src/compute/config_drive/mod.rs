//! Config drives: what an operating system reads about itself when it boots, on an optical medium.

mod contents;
mod iso;
mod medium;

pub use contents::image;
pub use medium::eject_config_drive;
pub(crate) use medium::retire_config_drive;
pub(super) use medium::{MediumSpec, Seen, ensure, remove};
