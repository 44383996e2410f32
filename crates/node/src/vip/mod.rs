//! The virtual addresses, which keepalived holds: its configuration follows the members, and this room runs it.
//!
//! **How fast.** A machine that is cut off is missed after three advertisements and a part of a fourth, the smaller the higher
//! the priority: with 0.3 s between them, 0.94 to 1.1 s. Shorter would be faster, and would take a machine that is only busy for
//! dead. A balancer that ends is started again at once by `landfall-node load-balancer`; if it cannot be, keepalived's check
//! finds out within its interval of a second (it knows no shorter one), and the machine resigns by itself, which the others
//! hear at once. `docs/node.md` has the figures.
//!
//! **Who.** The bootstrap machine has the highest priority until it gives the address away ([`release`]); masters and workers
//! take part only when the cluster knows them, since two machines that do not know each other would both hold an address.

mod addresses;
mod members;
mod release;
mod run;

pub use members::members;
pub use release::{is_released, release};
pub use run::run;
