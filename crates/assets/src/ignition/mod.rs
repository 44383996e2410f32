//! Ignition configs, spec 3.3: the newest that Debian's Ignition, RHCOS and Fedora CoreOS all read.

mod configs;
mod document;
mod machine;
mod pointer;
mod replacement;
mod served;

pub(crate) use configs::render;
pub use configs::{ignition_configs, served_config};
pub use pointer::{pointer_config, with_files, with_hostname};
pub use replacement::replacement_config;
pub use served::with_text_file;
