//! Faults on the machine that holds the API's address.

use std::time::Duration;

use crate::masters::{Masters, Settings};

/// A fault, how it heals, and what it is called.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    apply: fn(&Masters, usize),
    heal: fn(&Masters, usize),
}

pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "network cut",
        apply: |lab, holder| lab.link(holder, false),
        heal: |lab, holder| lab.link(holder, true),
    },
    Fault {
        name: "haproxy killed and not restarted",
        apply: |lab, holder| {
            if lab.settings == Settings::Landfall {
                lab.signal_argument(holder, "load-balancer", "STOP");
            }
            lab.signal(holder, "haproxy", "KILL");
        },
        heal: |lab, holder| match lab.settings {
            Settings::Landfall => lab.signal_argument(holder, "load-balancer", "CONT"),
            Settings::Reference => lab.start_haproxy(holder),
        },
    },
    Fault {
        name: "all processes frozen",
        apply: |lab, holder| lab.freeze(holder, "STOP"),
        heal: |lab, holder| lab.freeze(holder, "CONT"),
    },
    Fault {
        name: "API server stopped",
        apply: |lab, holder| lab.signal_argument(holder, "api.py", "KILL"),
        heal: |lab, holder| lab.start_api(holder),
    },
    Fault { name: "keepalived killed", apply: |lab, holder| lab.signal(holder, "keepalived", "KILL"), heal: |_, _| {} },
];

impl Fault {
    /// Has it happen once in a calm lab, and returns for how long the API was away.
    pub(crate) fn trial(&self, lab: &Masters) -> Duration {
        let holder = lab.settled();
        let mark = lab.probe.mark();
        (self.apply)(lab, holder);
        let outage = lab.probe.outage_since(mark);
        (self.heal)(lab, holder);
        outage
    }
}
