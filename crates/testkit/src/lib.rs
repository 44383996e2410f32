//! Generic suites that every platform's plan is put through, and the toy platform that they are tested with.
//!
//! A platform crate implements [`Fixture`] over its simulator and calls the suites from one integration test each:
//! [`repeat_every_step`], [`fail_at_every_step`], [`kill_at_every_step`], [`kill_every_removal`].

mod fixture;
mod interrupt;
mod suites;

pub use fixture::{Fixture, World};
pub use suites::{fail_at_every_step, kill_at_every_step, kill_every_removal, repeat_every_step};
