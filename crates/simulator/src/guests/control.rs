//! Looking at guests from outside, and letting them misbehave.

use std::sync::Arc;

use super::console::Console;
use super::faults::GuestFault;
use super::shared::Shared;

/// A handle to the guests of a simulator, for tests and the admin endpoint.
#[derive(Clone, Debug)]
pub struct GuestControl(Arc<Shared>);

impl GuestControl {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    /// What the machine with this id has printed on its console, oldest first; empty if it was never on.
    pub fn console(&self, id: &str) -> Vec<String> {
        self.0.console(id).as_ref().map(Console::lines).unwrap_or_default()
    }

    /// Lets machines misbehave from their next start; what was set before is forgotten.
    pub fn set_faults(&self, faults: Vec<GuestFault>) {
        self.0.set_faults(faults);
    }

    /// Which machines misbehave.
    pub fn faults(&self) -> Vec<GuestFault> {
        self.0.faults()
    }
}
