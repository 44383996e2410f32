//! The kit for users who bring their own DNS, DHCP and load balancer, and the judgement of what they made of it.
//!
//! Everything here is a function of its arguments. [`Inventory::propose`] fills an inventory from the install-config; the user
//! edits it, and [`kit()`] renders all the rest from it: what the machines are called, which addresses they have and who
//! balances the load is decided in that one file. [`check`] compares what somebody saw (answers of name servers, ports,
//! machines in the engine) with what the kit says; looking is the business of the caller.
//!
//! ```text
//! install-config ──► inventory.yml ──► playbooks, dns/, dhcp/, load-balancer/, ignition/
//!                      ▲   (the user)          │ vms.yml
//!                      └──── machines.json ◄───┘ hardware addresses, for DHCP
//! ```

mod addresses;
pub mod check;
mod dhcp;
mod dns;
mod error;
mod ignition;
mod inventory;
mod kit;
mod load_balancer;
mod made;
mod playbooks;
mod template;
mod text;

pub use dhcp::{Reservation, reservations};
pub use dns::{Record, Value, records};
pub use error::Error;
pub use ignition::IgnitionKind;
pub use inventory::{Balancer, Format, Group, Inventory, Machine, MachineKind, Network, Profile, Subnet};
pub use kit::{IGNITION_DIRECTORY, INVENTORY, KIT_DIRECTORY, MACHINES, kit};
pub use load_balancer::{Backends, Port};
pub use made::{Made, MadeMachine};
