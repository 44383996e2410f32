//! Virtual addresses and balancing: three masters, each with `landfall-node vip` and `landfall-node load-balancer` and the
//! keepalived and haproxy that they run, and a client that calls the API's virtual address every 50 ms.
//!
//! `LANDFALL_TRIALS=50` repeats each fault and prints the distribution of outages; `LANDFALL_FAULT` chooses faults by a part of
//! their name.

use crate::masters::Masters;

/// A fault on the machine that holds the address, how it heals, and what it is called.
type Fault = (&'static str, fn(&Masters, usize), fn(&Masters, usize));

const FAULTS: &[Fault] = &[
    ("network cut", |lab, holder| lab.link(holder, false), |lab, holder| lab.link(holder, true)),
    ("haproxy killed", |lab, holder| lab.signal(holder, "haproxy", "KILL"), |_, _| {}),
    (
        "haproxy killed and not restarted",
        |lab, holder| {
            lab.signal_argument(holder, "load-balancer", "STOP");
            lab.signal(holder, "haproxy", "KILL");
        },
        |lab, holder| lab.signal_argument(holder, "load-balancer", "CONT"),
    ),
    ("keepalived killed", |lab, holder| lab.signal(holder, "keepalived", "KILL"), |_, _| {}),
    (
        "API server stopped",
        |lab, holder| lab.signal_argument(holder, "api.py", "KILL"),
        |lab, holder| lab.start_api(holder),
    ),
    ("all processes frozen", |lab, holder| lab.freeze(holder, "STOP"), |lab, holder| lab.freeze(holder, "CONT")),
];

#[test]
fn the_api_is_reachable_again_after_every_fault() {
    let Some(lab) = Masters::start() else { return };
    let trials = std::env::var("LANDFALL_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_usize);
    let chosen = std::env::var("LANDFALL_FAULT").unwrap_or_default();
    for (name, apply, heal) in FAULTS.iter().filter(|(name, ..)| name.contains(&chosen)) {
        let mut outages = Vec::new();
        for _ in 0..trials {
            let holder = lab.settled();
            let mark = lab.probe.mark();
            apply(&lab, holder);
            outages.push(lab.probe.outage_since(mark));
            heal(&lab, holder);
            let after = lab.settled();
            eprintln!("{name}: {:.2} s, {holder} -> {after}", outages.last().unwrap().as_secs_f64());
        }
        outages.sort();
        // Rounded up: of a few trials the 99th percentile is the worst.
        let at = |share: usize| outages[(outages.len() * share).div_ceil(100).max(1) - 1].as_secs_f64();
        eprintln!("{name}: {trials} trials, median {:.2} s, 99th {:.2} s, worst {:.2} s", at(50), at(99), at(100));
    }
}
