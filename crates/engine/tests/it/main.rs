//! The engine on a toy platform.

mod behaviour;
mod journal;
mod suites;
mod toy;
