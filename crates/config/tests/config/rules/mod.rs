//! Every rule with something that breaks it, and what just does not.

mod access;
mod machines;
mod names;
mod networking;
mod packet;
mod powervm;
mod powervs;
mod public_dns;
mod shapes;
mod software;
mod virtual_ips;

use crate::support::{accepted, assert_problem};

/// Networks of both families.
const DUAL: &str = "networking={machineNetwork: [{cidr: 192.0.2.0/24}, {cidr: 'fd00::/64'}], clusterNetwork: [{cidr: 10.128.0.0/14}, {cidr: 'fd01::/48'}], serviceNetwork: [172.30.0.0/16, 'fd02::/112']}";

/// Each row breaks exactly one rule.
fn refused(rows: &[(&str, &str, &str)]) {
    for (assignment, path, fragment) in rows {
        assert_problem(&[assignment], path, fragment);
    }
}

/// Each assignment alone is fine.
fn welcome(assignments: &[&str]) {
    for assignment in assignments {
        accepted(&[assignment]);
    }
}
