//! Reservations, and how they are read back from the configurations of all three servers.

use std::net::IpAddr;

use serde::Serialize;
use serde_json::Value;

/// A machine and the addresses that are kept for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reservation {
    /// The machine's host name.
    pub name: String,
    /// Its hardware address, if it is known.
    pub mac: Option<String>,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
}

/// The reservations in a configuration of Kea, ISC dhcpd or dnsmasq; the text itself shows which it is.
pub fn reservations(text: &str) -> Vec<Reservation> {
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return kea(&value);
    }
    let lines: Vec<&str> = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).collect();
    if lines.iter().any(|line| line.starts_with("host ")) { dhcpd(&lines.join(" ")) } else { dnsmasq(&lines) }
}

fn kea(value: &Value) -> Vec<Reservation> {
    let reservations = ["Dhcp4", "Dhcp6"].iter().flat_map(|server| {
        let server = &value[*server];
        let subnets = ["subnet4", "subnet6"].iter().flat_map(|key| server[*key].as_array().into_iter().flatten());
        subnets.chain([server]).flat_map(|place| place["reservations"].as_array().into_iter().flatten())
    });
    reservations
        .map(|reservation| {
            let text = |key: &str| reservation[key].as_str();
            let six = reservation["ip-addresses"].as_array().into_iter().flatten().filter_map(Value::as_str);
            Reservation {
                name: text("hostname").unwrap_or_default().split('.').next().unwrap_or_default().to_owned(),
                mac: text("hw-address").map(str::to_lowercase),
                addresses: text("ip-address").into_iter().chain(six).filter_map(|text| text.parse().ok()).collect(),
            }
        })
        .collect()
}

/// `host NAME { hardware ethernet MAC; fixed-address ADDRESS; option host-name "NAME"; }`
fn dhcpd(text: &str) -> Vec<Reservation> {
    let hosts = text.split("host ").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once('{')?;
        let (body, _) = rest.split_once('}')?;
        Some((name.trim(), body))
    });
    hosts
        .map(|(name, body)| {
            let mut reservation = Reservation { name: name.to_owned(), ..Reservation::default() };
            for statement in body.split(';').map(str::trim) {
                if let Some(mac) = statement.strip_prefix("hardware ethernet ") {
                    reservation.mac = Some(mac.trim().to_lowercase());
                } else if let Some(list) =
                    statement.strip_prefix("fixed-address6 ").or_else(|| statement.strip_prefix("fixed-address "))
                {
                    reservation.addresses.extend(list.split(',').filter_map(|text| text.trim().parse::<IpAddr>().ok()));
                }
            }
            reservation
        })
        .collect()
}

/// `dhcp-host=MAC,ADDRESS,[ADDRESS],NAME`, and the same without `dhcp-host=` as in a file of hosts.
fn dnsmasq(lines: &[&str]) -> Vec<Reservation> {
    let fields = lines.iter().filter_map(|line| {
        let fields = line.strip_prefix("dhcp-host=").unwrap_or(line);
        (!fields.contains('=')).then(|| fields.split(',').map(str::trim).collect::<Vec<_>>())
    });
    fields
        .filter_map(|fields| {
            let mut reservation = Reservation::default();
            for field in fields {
                let bare = field.trim_start_matches('[').trim_end_matches(']');
                if field.split(':').count() == 6 && !field.starts_with('[') {
                    reservation.mac = Some(field.to_lowercase());
                } else if let Ok(address) = bare.parse::<IpAddr>() {
                    reservation.addresses.push(address);
                } else if reservation.name.is_empty() {
                    field.clone_into(&mut reservation.name);
                }
            }
            reservation.mac.is_some().then_some(reservation)
        })
        .collect()
}
