//! Names before there is an API: machines find each other by multicast.

use std::time::{Duration, Instant};

use crate::segment::Segment;

const DEADLINE: Duration = Duration::from_mins(1);

#[test]
fn machines_find_each_other_before_the_cluster_knows_them() {
    let Some(mut segment) = Segment::start("worker", &[]) else { return };
    for (name, host, address) in [("w0", "demo-x7k2p-w0", "198.51.100.31"), ("w1", "demo-x7k2p-w1", "198.51.100.32")] {
        segment.connect(name, address);
        segment.boot(name, host, "dns");
    }
    let dig = |name: &str| {
        let arguments = ["+short", "+tries=1", "@198.51.100.31", name];
        let output = segment.inside("w0", "dig").args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let begun = Instant::now();
    while dig("demo-x7k2p-w1.demo.example.com") != "198.51.100.32" {
        assert!(begun.elapsed() < DEADLINE, "the other machine is not found\n{}", segment.last_words());
    }
    assert_eq!(dig("demo-x7k2p-w0.demo.example.com"), "198.51.100.31", "a machine knows itself");
    assert_eq!(dig("api.demo.example.com"), "198.51.100.5");
    assert_eq!(dig("demo-x7k2p-w9.demo.example.com"), "", "one that is not there is nowhere");
}
