//! Ports for servers of other programs, which cannot be given a listener that is bound already.
//!
//! Tests run side by side in many processes. Each process takes a block of ports that no other one has: a port that was only looked at and
//! found free would be free for all of them.

use std::{
    fs::{File, TryLockError},
    net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket},
    sync::{LazyLock, Mutex},
};

/// Where blocks begin: below the ports that Linux gives to outgoing connections.
const FIRST: u16 = 20_000;
const BLOCK: u16 = 100;
const BLOCKS: u16 = 120;

struct Ports {
    /// The lock ends with the process.
    _lock: File,
    first: u16,
    next: u16,
}

static PORTS: LazyLock<Mutex<Ports>> = LazyLock::new(|| {
    let directory = std::env::temp_dir().join("landfall-test-ports");
    std::fs::create_dir_all(&directory).expect("a directory can be made");
    for number in 0..BLOCKS {
        let file = File::options().create(true).append(true).open(directory.join(number.to_string()));
        let file = file.expect("a file for a lock can be made");
        match file.try_lock() {
            Ok(()) => {
                let first = FIRST + number * BLOCK;
                return Mutex::new(Ports { _lock: file, first, next: first });
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => panic!("cannot lock a block of ports: {error}"),
        }
    }
    panic!("all {BLOCKS} blocks of ports are in use by other processes");
});

/// Returns a port of 127.0.0.1 that no other test has, free for TCP and UDP.
pub fn free_port() -> u16 {
    free_port_on(&[Ipv4Addr::LOCALHOST])
}

/// Returns a port that no other test has, free for TCP and UDP on each of the addresses.
pub fn free_port_on(addresses: &[Ipv4Addr]) -> u16 {
    let mut ports = PORTS.lock().expect("a test that finds no port ends all others of its process");
    for _ in 0..BLOCK {
        let port = ports.next;
        ports.next = if port + 1 == ports.first + BLOCK { ports.first } else { port + 1 };
        let is_free = |address: &Ipv4Addr| {
            let place = (IpAddr::from(*address), port);
            TcpListener::bind(place).is_ok() && UdpSocket::bind(place).is_ok()
        };
        if addresses.iter().all(is_free) {
            return port;
        }
    }
    panic!("no port of {}… is free on {addresses:?}", ports.first);
}
