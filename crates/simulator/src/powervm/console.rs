//! Consoles of partitions: a VNC server each, as the local commands of a NovaLink partition open them.
//!
//! `mkvterm` and `rmvterm` are no part of the REST API. The simulator can write stand-ins for both ([`write_commands`]), which ask its
//! admin endpoint; a console that is open is a listener on loopback that shakes hands as an RFB server does and shows nothing.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a listener looks whether it should end.
const LOOK: Duration = Duration::from_millis(20);
/// How long a client may be silent.
const PATIENCE: Duration = Duration::from_mins(5);

/// A console that is open. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct Console {
    pub(crate) port: u16,
    closed: Arc<AtomicBool>,
}

impl Console {
    /// Opens a console for a partition of this name.
    pub(crate) fn open(name: &str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let closed = Arc::new(AtomicBool::new(false));
        let (flag, name) = (closed.clone(), name.to_owned());
        std::thread::spawn(move || {
            while !flag.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        let name = name.clone();
                        // A client that leaves early, or talks nonsense, is no concern of anybody else's.
                        std::thread::spawn(move || serve(stream, &name).ok());
                    }
                    Err(_) => std::thread::sleep(LOOK),
                }
            }
        });
        Ok(Self { port, closed })
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

/// RFB 3.8 without authentication, up to the point where pictures would come.
fn serve(mut stream: TcpStream, name: &str) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"RFB 003.008\n")?;
    stream.read_exact(&mut [0; 12])?;
    stream.write_all(&[1, 1])?;
    stream.read_exact(&mut [0; 1])?;
    stream.write_all(&0_u32.to_be_bytes())?;
    stream.read_exact(&mut [0; 1])?;
    let mut hello = Vec::new();
    hello.extend(640_u16.to_be_bytes());
    hello.extend(480_u16.to_be_bytes());
    hello.extend([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]);
    hello.extend(u32::try_from(name.len()).unwrap_or_default().to_be_bytes());
    hello.extend(name.as_bytes());
    stream.write_all(&hello)?;
    let mut buffer = [0; 256];
    while stream.read(&mut buffer)? > 0 {}
    Ok(())
}

/// Writes `mkvterm` and `rmvterm`, which open and close consoles of the first host.
pub(crate) fn write_commands(directory: &Path, admin_url: &str) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let script = |method: &str, end: &str| {
        format!(
            "#!/bin/sh\n# Stands in for the command of a NovaLink partition; asks the simulator.\nwhile [ $# -gt 0 ]; do\n  case $1 in --id) id=$2; shift ;; esac\n  shift\ndone\nanswer=$(curl --silent --request {method} --write-out '\\n%{{http_code}}' \"{admin_url}/powervm/hosts/0/consoles/$id\")\ncode=${{answer##*\n}}\n{end}\n"
        )
    };
    let open = "printf '%s\\n' \"${answer%\n*}\"\ncase $code in 200) exit 0 ;; 409) exit 3 ;; *) exit 1 ;; esac";
    let close = "case $code in 200) exit 0 ;; *) exit 1 ;; esac";
    for (name, text) in [("mkvterm", script("POST", open)), ("rmvterm", script("DELETE", close))] {
        let path = directory.join(name);
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o755).open(path)?;
        file.write_all(text.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_greeted_and_told_the_name() {
        let console = Console::open("web1").unwrap();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, console.port)).unwrap();
        let mut greeting = [0; 12];
        stream.read_exact(&mut greeting).unwrap();
        assert_eq!(&greeting, b"RFB 003.008\n");
        stream.write_all(&greeting).unwrap();
        stream.read_exact(&mut [0; 2]).unwrap();
        stream.write_all(&[1]).unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
        stream.write_all(&[1]).unwrap();
        let mut hello = [0; 28];
        stream.read_exact(&mut hello).unwrap();
        assert_eq!(&hello[24..], b"web1");
    }
}
