//! Guests that misbehave.

use serde::{Deserialize, Serialize};

/// A way in which guests with certain names misbehave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestFault {
    /// Which machines: all whose name contains this.
    pub name: String,
    /// What is wrong with them.
    pub effect: GuestEffect,
}

/// What may be wrong with a guest. It counts from the machine's next start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestEffect {
    /// The machine is on, and nothing ever happens.
    NeverBoots,
    /// The guest works, and its agent tells the platform nothing.
    SilentAgent,
    /// Everything that the guest does by itself takes so many times longer.
    Slow(f64),
}
