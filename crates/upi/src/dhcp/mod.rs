//! Which address a machine gets: for ISC dhcpd, Kea and dnsmasq.

mod dhcpd;
mod dnsmasq;
mod kea;
mod reservation;

pub use reservation::{Reservation, reservations};

use landfall_platform::{File, FileSet};

use crate::{Inventory, Made, Subnet};

/// The files, relative to the kit. Those for IPv6 are there if machines have such addresses.
pub(crate) fn files(inventory: &Inventory, made: &Made) -> FileSet {
    let reserved: Vec<Reservation> = inventory
        .machines
        .iter()
        .map(|machine| Reservation {
            name: machine.name.clone(),
            mac: inventory.mac(machine, made).map(str::to_owned),
            addresses: machine.addresses.clone(),
        })
        .collect();
    let mut files = FileSet::default();
    let of_family = |v4: bool| {
        let subnets = inventory.network.subnets.iter().filter(move |subnet| subnet.cidr.addr().is_ipv4() == v4);
        subnets.collect::<Vec<&Subnet>>()
    };
    let (four, six) = (of_family(true), of_family(false));
    if !four.is_empty() {
        files.insert("dhcp/dhcpd.conf", File::public(dhcpd::configuration(inventory, &four, &reserved)));
        files.insert("dhcp/kea-dhcp4.json", File::public(kea::configuration(inventory, &four, &reserved)));
    }
    if !six.is_empty() {
        files.insert("dhcp/dhcpd6.conf", File::public(dhcpd::configuration(inventory, &six, &reserved)));
        files.insert("dhcp/kea-dhcp6.json", File::public(kea::configuration(inventory, &six, &reserved)));
    }
    files.insert("dhcp/dnsmasq.conf", File::public(dnsmasq::configuration(inventory, &reserved)));
    files
}

/// What stands in the place of a reservation that cannot be made yet.
fn unknown(reservation: &Reservation) -> String {
    format!("# {}: no hardware address yet; run vms.yml, then 'landfall upi create' again\n", reservation.name)
}

/// The name servers of a family, for a DHCP option.
fn name_servers(inventory: &Inventory, v4: bool) -> Vec<String> {
    let servers = inventory.network.name_servers.iter().filter(|server| server.is_ipv4() == v4);
    servers.map(ToString::to_string).collect()
}
