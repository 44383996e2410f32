//! The kit: what is in it, who understands it, and what the checks find.

mod consumers;
mod kit;
mod scene;
