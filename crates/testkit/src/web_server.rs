//! A web server with one file: what others serve images from.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// A web server on a port of its own that answers every request with the same contents. It ends with the process.
#[derive(Debug)]
pub struct WebServer {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl WebServer {
    /// Serves these bytes.
    pub fn start(contents: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (address, asked) = (listener.local_addr().expect("an address"), Arc::<AtomicUsize>::default());
        let counted = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                // Who goes away meanwhile is no concern of the others.
                let _gone = answer(stream, &contents);
            }
        });
        Self { address, asked }
    }

    /// Where the contents are.
    pub fn url(&self) -> String {
        format!("http://{}/image.raw", self.address)
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn answer(mut stream: TcpStream, contents: &[u8]) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let is_head = lines.next().transpose()?.is_some_and(|line| line.starts_with("HEAD"));
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", contents.len())?;
    if is_head { Ok(()) } else { stream.write_all(contents) }
}
