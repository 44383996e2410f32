//! Addresses that keepalived left behind.

use std::net::IpAddr;

use crate::{Error, machine::interfaces, program::Program};

/// Removes virtual addresses from the machine. keepalived does that itself when it stops, but not when it is killed; and one
/// that starts takes an address that is there for its own, while another machine holds it.
pub(super) async fn remove_leftovers(virtual_addresses: &[IpAddr]) -> Result<(), Error> {
    for interface in interfaces().await? {
        for address in interface.addresses.iter().filter_map(|found| found.address) {
            if virtual_addresses.contains(&address) {
                let full = format!("{address}/{}", if address.is_ipv4() { 32 } else { 128 });
                Program::new("ip", ["address", "delete", &full, "dev", &interface.name]).run().await?;
                tracing::warn!(%address, interface = interface.name, "removed an address that was left behind");
            }
        }
    }
    Ok(())
}
