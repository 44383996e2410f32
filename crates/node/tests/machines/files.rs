//! The config server's open files.

use std::fs;

use crate::segment::Segment;

#[test]
fn a_config_server_may_have_more_files_open_than_connections() {
    let Some(mut segment) = Segment::start("bootstrap", &[]) else { return };
    let pair = rcgen::generate_simple_self_signed(["api-int.demo.example.com".to_owned()]).unwrap();
    fs::write(segment.directory().join("tls.crt"), pair.cert.pem()).unwrap();
    fs::write(segment.directory().join("tls.key"), pair.signing_key.serialize_pem()).unwrap();
    segment.connect("b", "198.51.100.10");
    let run = "cp \"$PAYLOAD\"/tls.* /etc/landfall/; ulimit -Sn 1024; \"$PROGRAM\" config-server > \"$LOGS/config-server.log\" 2>&1 &";
    segment.boot_with("b", "demo-x7k2p-bootstrap", run);
    segment.wait_for_log("b", "config-server.log", "serving configs", || ());
    let ids = segment.processes("b", "landfall-node");
    let limits = fs::read_to_string(format!("/proc/{}/limits", ids[0])).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let soft: u64 = line.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert!(soft > 2048, "2048 connections and a file to read for them: {line}");
}
