//! What is wrong with what the user has made, before a machine boots. Pure: whoever looks hands in what was seen.
//!
//! Each finding says what is wrong and, as its hint, the line that puts it right.

mod dhcp;
mod dns;
mod load_balancer;
mod ovirt;

pub use dhcp::{dhcp, dhcp_addresses};
pub use dns::{Answer, DnsView, Question, dns, questions};
pub use load_balancer::{PortView, Sight, load_balancer};
pub use ovirt::{OvirtView, TemplateView, VmView, ovirt};
