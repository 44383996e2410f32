//! Bytes to a name server and back.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use hickory_proto::{op::Message, rr::RData};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
    time::{Instant, timeout, timeout_at},
};

use super::{Key, key::Signature};
use crate::Error;

/// A packet or its answer may get lost: so long is waited for an answer, and so often is asked.
const PATIENCE: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(3)];
/// For a connection and an answer through it.
const TCP_PATIENCE: Duration = Duration::from_secs(10);
/// For a whole zone.
const TRANSFER_PATIENCE: Duration = Duration::from_mins(1);
/// A zone with more messages than this is not searched for what is ours.
const LONGEST_TRANSFER: usize = 10_000;

/// An exchange with one server.
pub(super) struct Exchange<'a> {
    pub(super) server: SocketAddr,
    pub(super) attempt: &'a str,
    pub(super) key: Option<&'a Key>,
}

/// A message on its way.
struct Sent {
    id: u16,
    bytes: Vec<u8>,
    signature: Option<Signature>,
}

impl Exchange<'_> {
    /// Asks by UDP, several times if need be, and by TCP if the answer does not fit.
    pub(super) async fn by_udp(&self, message: impl Fn() -> Message) -> Result<Message, Error> {
        for patience in PATIENCE {
            let sent = self.prepare(message())?;
            let Some(bytes) = self.packet(&sent, patience).await? else { continue };
            let reply = self.read(&bytes, &sent)?;
            if reply.metadata.truncation {
                return self.by_tcp(message()).await;
            }
            return Ok(reply);
        }
        Err(Error::Silence { attempt: self.attempt.to_owned(), server: self.name(), limit: PATIENCE.iter().sum() })
    }

    /// Asks by TCP.
    pub(super) async fn by_tcp(&self, message: Message) -> Result<Message, Error> {
        let sent = self.prepare(message)?;
        let exchange = async {
            let mut stream = self.connect(&sent).await?;
            read_message(&mut stream).await
        };
        let bytes = self.within(TCP_PATIENCE, exchange).await?;
        self.read(&bytes, &sent)
    }

    /// All messages of a transfer: it begins and ends with the start of authority. None if the server refuses.
    pub(super) async fn transfer(&self, message: Message) -> Result<Option<Vec<Message>>, Error> {
        let sent = self.prepare(message)?;
        let exchange = async {
            let mut stream = self.connect(&sent).await?;
            let (mut messages, mut ends) = (Vec::new(), 0);
            while ends < 2 && messages.len() < LONGEST_TRANSFER {
                let bytes = read_message(&mut stream).await?;
                let message =
                    Message::from_vec(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                if super::answer::code(message.metadata.response_code) != "NOERROR" {
                    return Ok(None);
                }
                ends += message.answers.iter().filter(|record| matches!(record.data, RData::SOA(_))).count();
                messages.push(message);
            }
            Ok(Some(messages))
        };
        self.within(TRANSFER_PATIENCE, exchange).await
    }

    fn prepare(&self, mut message: Message) -> Result<Sent, Error> {
        let signature = self.key.map(|key| key.sign(&mut message));
        let bytes = message.to_vec().map_err(|error| self.malformed(error.to_string()))?;
        Ok(Sent { id: message.metadata.id, bytes, signature })
    }

    /// The answer to one packet; none if there is none in time. Answers to other questions are not ours.
    async fn packet(&self, sent: &Sent, patience: Duration) -> Result<Option<Vec<u8>>, Error> {
        let any: IpAddr =
            if self.server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let failed = |source| self.failed(source);
        let socket = UdpSocket::bind((any, 0)).await.map_err(failed)?;
        socket.connect(self.server).await.map_err(failed)?;
        socket.send(&sent.bytes).await.map_err(failed)?;
        let until = Instant::now() + patience;
        let mut buffer = vec![0; usize::from(u16::MAX)];
        loop {
            match timeout_at(until, socket.recv(&mut buffer)).await {
                Err(_) => return Ok(None),
                Ok(Ok(length)) if buffer.get(..2) == Some(&sent.id.to_be_bytes()) => {
                    buffer.truncate(length);
                    return Ok(Some(buffer));
                }
                Ok(Ok(_)) => {}
                Ok(Err(source)) => return Err(failed(source)),
            }
        }
    }

    async fn connect(&self, sent: &Sent) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(self.server).await?;
        let length = u16::try_from(sent.bytes.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        stream.write_all(&[&length.to_be_bytes(), sent.bytes.as_slice()].concat()).await?;
        Ok(stream)
    }

    async fn within<T>(&self, limit: Duration, exchange: impl Future<Output = io::Result<T>>) -> Result<T, Error> {
        match timeout(limit, exchange).await {
            Ok(done) => done.map_err(|source| self.failed(source)),
            Err(_) => Err(Error::Silence { attempt: self.attempt.to_owned(), server: self.name(), limit }),
        }
    }

    fn read(&self, bytes: &[u8], sent: &Sent) -> Result<Message, Error> {
        let reply = Message::from_vec(bytes).map_err(|error| self.malformed(error.to_string()))?;
        if reply.metadata.id != sent.id {
            return Err(self.malformed("it answers another question".to_owned()));
        }
        if let (Some(key), Some(signature), false) = (self.key, &sent.signature, reply.metadata.truncation) {
            key.verify(bytes, &reply, signature, &self.name())?;
        }
        Ok(reply)
    }

    fn name(&self) -> String {
        self.server.to_string()
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Exchange { attempt: self.attempt.to_owned(), server: self.name(), source }
    }

    fn malformed(&self, reason: String) -> Error {
        Error::Malformed { attempt: self.attempt.to_owned(), server: self.name(), reason }
    }
}

async fn read_message(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let length = stream.read_u16().await?;
    let mut bytes = vec![0; usize::from(length)];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}
