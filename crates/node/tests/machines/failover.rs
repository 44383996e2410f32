//! Virtual addresses and balancing: three masters, each with `landfall-node vip` and `landfall-node load-balancer` and the
//! keepalived and haproxy that they run, and a client that calls the API's virtual address every 50 ms.
//!
//! How long outages are, next to the reference's settings, is measured by `cargo bench --bench failover`.

use crate::{
    faults::{FAULTS, Fault},
    masters::{Masters, Settings},
};

/// The balancer's parent is there and starts it again.
const RESTARTED: &str = "haproxy";

#[test]
fn the_api_is_reachable_again_after_every_fault() {
    let Some(lab) = Masters::start(Settings::Landfall) else { return };
    for fault in FAULTS {
        let outage = Fault::trial(fault, &lab);
        eprintln!("{}: {:.2} s", fault.name, outage.as_secs_f64());
    }
    let holder = lab.settled();
    let mark = lab.probe.mark();
    lab.signal(holder, RESTARTED, "KILL");
    eprintln!("{RESTARTED} killed: {:.2} s", lab.probe.outage_since(mark).as_secs_f64());
    lab.settled();
}
