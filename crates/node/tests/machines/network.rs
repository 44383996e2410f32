//! The pod network: two nodes whose pods reach each other by their own addresses, and somebody outside who sees the address of
//! a node instead.

use std::time::{Duration, Instant};

use crate::segment::{Segment, node};

const DEADLINE: Duration = Duration::from_mins(1);

fn until(what: &str, segment: &Segment, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE, "{what} does not come\n{}", segment.last_words());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// An address of a pod, without the pod: the node itself talks from it.
fn pod(segment: &Segment, name: &str, address: &str) {
    let output = segment.inside(name, "ip").args(["address", "add", address, "dev", "lo"]).output().unwrap();
    assert!(output.status.success());
    let forward = segment.inside(name, "sysctl").args(["-qw", "net.ipv4.ip_forward=1"]).status().unwrap();
    assert!(forward.success());
}

/// Who a server on `name` sees when somebody on `from` connects with a pod's address.
fn seen(segment: &Segment, name: &str, address: &str, from: &str, pod: &str) -> String {
    let script = format!(
        "import socket\nserver = socket.create_server(('{address}', 0))\nprint(server.getsockname()[1], flush=True)\n\
         server.settimeout(20)\nprint(server.accept()[1][0], flush=True)\n"
    );
    let mut server =
        segment.inside(name, "python3").args(["-c", &script]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(server.stdout.take().unwrap()));
    let port = lines.next().unwrap().unwrap();
    let client = format!("import socket\nsocket.create_connection(('{address}', {port}), 10, ('{pod}', 0))\n");
    let connected = segment.inside(from, "python3").args(["-c", &client]).output().unwrap();
    assert!(connected.status.success(), "{}", String::from_utf8_lossy(&connected.stderr));
    let peer = lines.next().unwrap().unwrap();
    server.wait().unwrap();
    peer
}

#[test]
fn pods_reach_each_other_by_their_own_addresses_and_the_outside_by_their_nodes() {
    let nodes = [
        node("demo-w0", "worker", "198.51.100.31", &["10.128.0.0/23"]),
        node("demo-w1", "worker", "198.51.100.32", &["10.128.2.0/23"]),
    ];
    let Some(mut segment) = Segment::start("worker", &nodes) else { return };
    for (name, host, address, own) in
        [("w0", "demo-w0", "198.51.100.31", "10.128.0.7/32"), ("w1", "demo-w1", "198.51.100.32", "10.128.2.7/32")]
    {
        segment.connect(name, address);
        pod(&segment, name, own);
        segment.boot(name, host, "network");
    }
    segment.connect("out", "198.51.100.99");

    until("the route to the other node's pods", &segment, || {
        segment.show("w0", &["route", "show", "10.128.2.0/23"]).contains("via 198.51.100.32")
            && segment.show("w1", &["route", "show", "10.128.0.0/23"]).contains("via 198.51.100.31")
    });
    until("the rule for the outside", &segment, || {
        let rules = segment.inside("w0", "nft").args(["list", "ruleset"]).output().unwrap();
        String::from_utf8_lossy(&rules.stdout).contains("masquerade")
    });
    assert_eq!(seen(&segment, "w1", "10.128.2.7", "w0", "10.128.0.7"), "10.128.0.7", "from pod to pod");
    assert_eq!(seen(&segment, "w1", "198.51.100.32", "w0", "10.128.0.7"), "10.128.0.7", "from pod to node");
    assert_eq!(seen(&segment, "out", "198.51.100.99", "w0", "10.128.0.7"), "198.51.100.31", "from pod to the outside");
}
