//! Text that grows line by line.

use std::fmt::{self, Write as _};

/// Text that grows line by line.
#[derive(Default)]
pub(crate) struct Text(String);

impl Text {
    /// Adds a line; what is given may be several.
    pub(crate) fn line(&mut self, line: impl fmt::Display) {
        writeln!(self.0, "{line}").expect("writing to memory cannot fail");
    }

    /// All of it.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}
