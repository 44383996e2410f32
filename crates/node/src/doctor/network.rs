//! The machine's address.

use landfall_platform::Finding;

use crate::machine::Machine;

pub(super) async fn address(machine: &Machine) -> Finding {
    match machine.addresses().await {
        Ok(own) => Finding::ok("address", format!("{} on {}", own.main(), own.interface)),
        Err(error) => Finding::problem(
            "address",
            landfall_platform::error_chain(&error),
            "connect the machine to a network of networking.machineNetwork, or correct that field",
        ),
    }
}
