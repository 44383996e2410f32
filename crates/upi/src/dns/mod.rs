//! The names of the cluster: for BIND as whole zones and as lines for a zone that exists, for dnsmasq, and as a table.

mod bind;
mod dnsmasq;
mod record;
mod reverse;
mod zone;

pub use record::{Record, Value, records};

use landfall_assets::Cluster;
use landfall_platform::{File, FileSet};

use crate::Inventory;

/// The files, relative to the kit.
pub(crate) fn files(cluster: &Cluster<'_>, inventory: &Inventory) -> FileSet {
    let records = records(cluster, inventory);
    let zones = zone::zones(cluster, inventory, &records);
    let mut files = FileSet::default();
    for zone in &zones {
        files.insert(format!("dns/db.{}", zone.name), File::public(zone.render(cluster)));
    }
    files.insert("dns/named.conf", File::public(bind::configuration(&zones)));
    files.insert("dns/snippet", File::public(bind::snippet(&records)));
    files.insert("dns/dnsmasq.conf", File::public(dnsmasq::configuration(cluster, &records)));
    files.insert("dns/records.txt", File::public(record::table(&records)));
    files
}
