//! Feeds of 10, 1,000 and 10,000 partitions: how much processor time and memory reading takes, next to IBM's library.
//!
//! `cargo bench -p landfall-platform-powervm --bench feed`. Each measurement is a process of its own, so that the peak of its
//! memory is that of the reading. The feeds are those of the simulator; both readers get to every partition's name and state.

#![allow(clippy::disallowed_methods, reason = "measurements write what need not survive")]
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use landfall_platform_powervm::client::{Entry, LogicalPartition};
use landfall_simulator::core::{Instant as SimulatedTime, Request, Simulation};
use landfall_simulator::powervm::{Inventory, NovaLink};

const SIZES: [u32; 3] = [10, 1000, 10_000];
const ROUNDS: usize = 5;

/// The same by pypowervm: `[name, state]` of every partition of a feed in a file.
const PEER: &str = r#"
import sys, time
from pypowervm import adapter
from pypowervm.wrappers import logical_partition

def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

text = open(sys.argv[1]).read()
before, began = peak(), time.process_time()
response = adapter.Response("GET", "/rest/api/uom/LogicalPartition", 200, "OK", {}, body=text)
response._unmarshal_atom()
lpars = logical_partition.LPAR.wrap(response)
seen = [(lpar.name, lpar.state) for lpar in lpars]
seconds = time.process_time() - began
print(len(seen), seconds, peak() - before)
"#;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, path] = arguments.as_slice()
        && word == "--measure"
    {
        return measure(Path::new(path));
    }
    let directory = tempfile::tempdir().expect("a directory for feeds");
    let python = peer();
    println!("{:>10}  {:>9}  {:>24}  {:>24}", "partitions", "feed", "landfall", "pypowervm");
    for size in SIZES {
        let path = directory.path().join(format!("{size}.xml"));
        let feed = feed(size);
        std::fs::write(&path, &feed).expect("the feed is written");
        let own = best(|| {
            let program = std::env::current_exe().expect("this program");
            Command::new(program).arg("--measure").arg(&path).output()
        });
        let other = best(|| Command::new(&python).arg("-c").arg(PEER).arg(&path).output());
        let show = |(seconds, kib): (f64, u64)| format!("{:>9.1} ms {:>8.1} MiB", seconds * 1000.0, mib(kib));
        let (own_text, other_text) = (show(own), show(other));
        println!("{size:>10}  {:>5.1} MiB  {own_text:>24}  {other_text:>24}", mib(feed.len() as u64 / 1024));
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

/// The feed that a host with so many partitions sends.
fn feed(size: u32) -> Vec<u8> {
    let inventory = format!(
        "hosts: [{{name: big, serial: B1, memory_mb: 999999999, processors: 99999, vioses: [{{name: v}}], partitions: [{{name: lpar, count: {size}}}]}}]"
    );
    let mut hosts = NovaLink::new(&Inventory::parse(&inventory).expect("the inventory is sound"), 0);
    let mut call = |method: &str, path: &str, headers: Vec<(String, String)>, body: &'static str| {
        let request = Request {
            method: method.to_owned(),
            path: format!("/rest/api/{path}"),
            query: String::new(),
            headers,
            body: body.into(),
            listener: 0,
            injection: None,
        };
        let response = hosts.handle(SimulatedTime(Duration::ZERO), &request);
        assert_eq!(response.status, 200, "{path}");
        String::from_utf8(response.body.to_vec()).expect("answers are text")
    };
    let logon = "<LogonRequest><UserID>admin</UserID><Password>landfall</Password></LogonRequest>";
    let answer = call("PUT", "web/Logon", Vec::new(), logon);
    let token = answer.split_once("<X-API-Session").and_then(|(_, rest)| rest.split_once('>')).map(|(_, rest)| rest);
    let token = token.and_then(|rest| rest.split('<').next()).expect("a token");
    call("GET", "uom/LogicalPartition", vec![("x-api-session".to_owned(), token.to_owned())], "").into_bytes()
}

fn measure(path: &Path) {
    let text = std::fs::read(path).expect("the feed is there");
    let (before, began) = (peak(), processor_seconds());
    let entries = Entry::parse(&text).expect("the feed is sound");
    let seen: Vec<(String, String)> = entries
        .iter()
        .map(|entry| {
            let partition = LogicalPartition::read(entry);
            (partition.name, partition.state)
        })
        .collect();
    let seconds = processor_seconds() - began;
    println!("{} {seconds} {}", seen.len(), peak() - before);
}

/// The processor time of this process: unlike the time of day, it is the same on a busy machine. Small feeds take less than the
/// kernel can tell, and count as nothing.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a Linux system");
    let nanoseconds: f64 = text.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number");
    nanoseconds / 1e9
}

/// The most memory that this process had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux system");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("the peak is there");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("it is a number")
}

/// The best time of some rounds, and the memory of that round.
fn best(run: impl Fn() -> std::io::Result<std::process::Output>) -> (f64, u64) {
    let mut all: Vec<(f64, u64)> = (0..ROUNDS)
        .map(|_| {
            let output = run().expect("the reader runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout).expect("numbers");
            let mut words = text.split_whitespace().skip(1);
            let seconds = words.next().and_then(|word| word.parse().ok()).expect("seconds");
            (seconds, words.next().and_then(|word| word.parse().ok()).expect("KiB"))
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all[0]
}

fn peer() -> PathBuf {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/powervm/venv");
    let made = Command::new(script).output().expect("the script that makes the virtualenv runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    PathBuf::from(String::from_utf8(made.stdout).expect("a path").trim()).join("bin/python")
}
