//! The rules that types alone cannot express.

use crate::{InstallConfig, Notice, Problem};

impl InstallConfig {
    /// Judges a configuration whose defaults are filled in: all problems, and what the user should know.
    pub fn validate(&self) -> (Vec<Problem>, Vec<Notice>) {
        (Vec::new(), Vec::new())
    }
}
