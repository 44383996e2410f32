//! Consoles of partitions: a VNC server each, which NovaLink's own commands open on the management partition.
//!
//! `mkvterm` opens one on loopback and prints its port; a [`Relay`] lets others in. A viewer first asks for a partition by a
//! `CONNECT` line, as the proxies of Nova do, and is then joined to that partition's console. Older proxies cannot: for them there are
//! relays to one partition, which need not be asked. What follows is encrypted, if it should be ([`Encryption`]).

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::JoinSet;

use super::{Encryption, Error, Host, PartitionId};

/// The command says that the console is open already, and where.
const OPEN_ALREADY: i32 = 3;
/// A request line is no longer than this.
const LINE: usize = 4096;
/// How long a viewer may take to say which partition it wants, and to show its certificate.
const GREETING: Duration = Duration::from_secs(30);
/// How long nothing may be said before a viewer is sent away.
const SILENCE: Duration = Duration::from_mins(5);

/// Opens and closes consoles of the partitions of one server. Works on its management partition only.
#[derive(Clone, Debug)]
pub struct Consoles {
    host: Arc<Host>,
    /// Where the commands are; none for wherever the system looks.
    commands: Option<PathBuf>,
    encryption: Option<Encryption>,
    /// Addresses of the proxies that may come; none for any that reaches the relay.
    proxies: Vec<IpAddr>,
}

impl Consoles {
    /// Consoles of a server. `commands` is the directory of `mkvterm` and `rmvterm`; none means that the system knows.
    pub fn new(host: Arc<Host>, commands: Option<PathBuf>) -> Self {
        Self { host, commands, encryption: None, proxies: Vec::new() }
    }

    /// The same, for viewers with a certificate only.
    #[must_use]
    pub fn encrypted(self, encryption: Encryption) -> Self {
        Self { encryption: Some(encryption), ..self }
    }

    /// The same, for viewers with one of these addresses only.
    #[must_use]
    pub fn for_proxies(self, proxies: Vec<IpAddr>) -> Self {
        Self { proxies, ..self }
    }

    fn admits(&self, viewer: IpAddr) -> bool {
        self.proxies.is_empty() || self.proxies.contains(&viewer.to_canonical())
    }

    /// Opens the console of a partition. The port on loopback where its VNC server is.
    pub async fn open(&self, partition: &PartitionId) -> Result<u16, Error> {
        let output = self.run("mkvterm", partition, &["--vnc", "--local"]).await?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let opened = output.status.success() || output.status.code() == Some(OPEN_ALREADY);
        let port = text.lines().last().and_then(|line| line.trim().parse().ok()).filter(|_| opened);
        port.ok_or_else(|| self.refused(partition, "opened", &output))
    }

    /// Closes the console of a partition. That none is open is as good.
    pub async fn close(&self, partition: &PartitionId) -> Result<(), Error> {
        let output = self.run("rmvterm", partition, &[]).await?;
        if output.status.success() { Ok(()) } else { Err(self.refused(partition, "closed", &output)) }
    }

    /// Lets viewers in at an address. Nova's token is checked by the proxy, so that a viewer which gets around the proxy needs none: what is not
    /// on loopback is for proxies that can be told by their certificate or their address.
    pub async fn relay(&self, address: SocketAddr) -> io::Result<Relay> {
        if !address.ip().to_canonical().is_loopback() && self.encryption.is_none() && self.proxies.is_empty() {
            let reason =
                "consoles would be open to everybody there; set vnc_proxies, or vnc_use_x509_auth, in [powervm]";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        Ok(Relay { consoles: self.clone(), listener: TcpListener::bind(address).await?, only: None })
    }

    /// Lets viewers in at an address, to one partition.
    pub async fn relay_to(&self, partition: &PartitionId, address: SocketAddr) -> io::Result<Relay> {
        Ok(Relay { only: Some(partition.clone()), ..self.relay(address).await? })
    }

    async fn run(&self, command: &str, partition: &PartitionId, flags: &[&str]) -> Result<Output, Error> {
        let missing = || Error::Missing { what: format!("partition {partition}"), host: self.host.label() };
        let entry = self.host.partition(partition).await?.ok_or_else(missing)?;
        let program = self.commands.as_deref().map_or_else(|| Path::new(command).to_owned(), |home| home.join(command));
        let number = entry.text("PartitionID");
        let output = Command::new(&program).arg("--id").arg(number).args(flags).kill_on_drop(true).output().await;
        output.map_err(|source| {
            self.host.failed(format!("running {command}"), crate::Error::File { path: program, source })
        })
    }

    fn refused(&self, partition: &PartitionId, done: &'static str, output: &Output) -> Error {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let reason = if words.is_empty() { format!("the command ended with {}", output.status) } else { words };
        Error::Refused { what: format!("console of partition {partition}"), host: self.host.label(), done, reason }
    }
}

/// Lets viewers in.
#[derive(Debug)]
pub struct Relay {
    consoles: Consoles,
    listener: TcpListener,
    only: Option<PartitionId>,
}

impl Relay {
    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves viewers until it is dropped. What goes wrong with one is no concern of the others.
    pub async fn serve(self) -> io::Result<()> {
        let mut viewers = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (stream, peer) = accepted?;
                    if !self.consoles.admits(peer.ip()) {
                        continue;
                    }
                    let (consoles, only) = (self.consoles.clone(), self.only.clone());
                    viewers.spawn(async move {
                        match only {
                            Some(partition) => consoles.show(&partition, stream).await,
                            None => consoles.view(stream).await,
                        }
                    });
                }
                Some(_left) = viewers.join_next() => {}
            }
        }
    }
}

impl Consoles {
    /// Reads which partition a viewer wants, and joins it to its console.
    async fn view(&self, mut viewer: TcpStream) -> io::Result<()> {
        let line = tokio::time::timeout(GREETING, request_line(&mut viewer)).await;
        let wanted = line.ok().and_then(Result::ok).and_then(|line| partition_of(&line));
        let port = match wanted {
            Some(partition) => self.open(&partition).await.ok(),
            None => None,
        };
        let Some(port) = port else {
            return viewer.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        };
        let console = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        viewer.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
        self.connect(viewer, console).await
    }

    /// Joins a viewer to the console of a partition. One that cannot be opened ends the connection.
    async fn show(&self, partition: &PartitionId, viewer: TcpStream) -> io::Result<()> {
        let Ok(port) = self.open(partition).await else { return Ok(()) };
        let console = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        self.connect(viewer, console).await
    }

    /// Lets a viewer and a console talk, once the viewer has shown who it is, if it has to.
    async fn connect(&self, mut viewer: TcpStream, mut console: TcpStream) -> io::Result<()> {
        let Some(encryption) = &self.encryption else { return join(&mut viewer, &mut console).await };
        let negotiated = tokio::time::timeout(GREETING, encryption.negotiate(viewer, &mut console)).await;
        let mut viewer = negotiated.map_err(|_late| io::ErrorKind::TimedOut)??;
        join(&mut viewer, &mut console).await?;
        // So that the viewer can tell this from a connection that somebody has cut, if it listens.
        tokio::time::timeout(GREETING, viewer.shutdown()).await.unwrap_or(Ok(()))
    }
}

/// Reads up to the empty line that ends a request; its first line.
async fn request_line(viewer: &mut TcpStream) -> io::Result<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") && request.len() < LINE {
        request.push(viewer.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned())
}

/// The partition that a `CONNECT` line asks for.
fn partition_of(line: &str) -> Option<PartitionId> {
    let mut words = line.split_whitespace();
    let is_connect = words.next() == Some("CONNECT");
    words.next().filter(|_| is_connect)?.trim_matches('/').parse().ok()
}

/// Passes bytes on in both directions until one side ends, or both are silent for long.
async fn join(viewer: &mut (impl AsyncRead + AsyncWrite + Unpin), console: &mut TcpStream) -> io::Result<()> {
    let (mut from_viewer, mut from_console) = (vec![0; 16 << 10], vec![0; 16 << 10]);
    // waits: the silence that is slept through is what ends it
    loop {
        tokio::select! {
            count = viewer.read(&mut from_viewer) => match count? {
                0 => return Ok(()),
                count => console.write_all(&from_viewer[..count]).await?,
            },
            count = console.read(&mut from_console) => match count? {
                0 => return Ok(()),
                count => {
                    viewer.write_all(&from_console[..count]).await?;
                    // TLS may keep some of it for later.
                    viewer.flush().await?;
                }
            },
            () = tokio::time::sleep(SILENCE) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connect_line_names_a_partition() {
        let id = "1B0A5D1E-0000-4000-8000-000000000001";
        assert_eq!(partition_of(&format!("CONNECT {id} HTTP/1.1")), id.parse().ok());
        assert_eq!(partition_of(&format!("CONNECT /{} HTTP/1.0", id.to_lowercase())), id.parse().ok());
        for line in ["", "CONNECT", "GET / HTTP/1.1", "CONNECT web1 HTTP/1.1"] {
            assert!(partition_of(line).is_none(), "{line}");
        }
    }
}
