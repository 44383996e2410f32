//! Lets a server that listens on 127.0.0.1 only (BIND listens only on addresses that an interface has) be reached at another
//! loopback address, by UDP and by TCP. On threads of its own, so that it works while a test waits for another program.

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

const PAUSE: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_mins(1);

/// A relay. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Relay(Arc<AtomicBool>);

impl Relay {
    pub(crate) fn start(at: SocketAddr, to: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let packets = Arc::new(UdpSocket::bind(at).expect("the address is free"));
        packets.set_read_timeout(Some(PAUSE)).expect("a socket takes a timeout");
        let connections = TcpListener::bind(at).expect("the address is free");
        connections.set_nonblocking(true).expect("a socket need not block");
        let stopped = Arc::clone(&stop);
        thread::spawn(move || {
            let mut buffer = vec![0; 65535];
            while !stopped.load(Ordering::SeqCst) {
                let Ok((length, client)) = packets.recv_from(&mut buffer) else { continue };
                let (request, packets) = (buffer[..length].to_vec(), Arc::clone(&packets));
                // A server that is gone does not answer.
                thread::spawn(move || exchange(&request, to).and_then(|reply| packets.send_to(&reply, client)));
            }
        });
        let stopped = Arc::clone(&stop);
        thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                match connections.accept() {
                    Ok((client, _)) => drop(thread::spawn(move || join(&client, to))),
                    Err(_) => thread::sleep(PAUSE),
                }
            }
        });
        Self(stop)
    }
}

fn exchange(request: &[u8], to: SocketAddr) -> io::Result<Vec<u8>> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send_to(request, to)?;
    let mut reply = vec![0; 65535];
    let length = socket.recv(&mut reply)?;
    reply.truncate(length);
    Ok(reply)
}

fn join(client: &TcpStream, to: SocketAddr) -> io::Result<()> {
    client.set_nonblocking(false)?;
    let server = TcpStream::connect(to)?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let _copied = io::copy(&mut from_client, &mut to_server);
        to_server.shutdown(std::net::Shutdown::Write)
    });
    io::copy(&mut &server, &mut &*client)?;
    client.shutdown(std::net::Shutdown::Both)
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
