//! Asking a name server, as far as a machine that boots needs it: IPv4 addresses of a name, over UDP.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;

const PATIENCE: Duration = Duration::from_secs(3);
const TYPE_A: u16 = 1;
const CLASS_IN: u16 = 1;

/// The addresses of a name; none if the server knows none.
pub(super) async fn lookup(server: SocketAddr, name: &str) -> io::Result<Vec<Ipv4Addr>> {
    let number: u16 = rand::random();
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    socket.connect(server).await?;
    socket.send(&question(number, name)).await?;
    let mut answer = [0; 1500];
    let received = tokio::time::timeout(PATIENCE, socket.recv(&mut answer)).await;
    let length = received.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    Ok(addresses(&answer[..length], number).unwrap_or_default())
}

fn question(number: u16, name: &str) -> Vec<u8> {
    let mut message = Vec::from(number.to_be_bytes());
    // Recursion is wished for; there is one question.
    message.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.trim_end_matches('.').split('.') {
        message.push(u8::try_from(label.len().min(63)).unwrap_or_default());
        message.extend(label.bytes().take(63));
    }
    message.push(0);
    message.extend(TYPE_A.to_be_bytes());
    message.extend(CLASS_IN.to_be_bytes());
    message
}

/// The addresses in an answer; nothing if it is not one, or is cut off.
fn addresses(message: &[u8], number: u16) -> Option<Vec<Ipv4Addr>> {
    let word = |at: usize| Some(u16::from_be_bytes([*message.get(at)?, *message.get(at + 1)?]));
    if word(0)? != number || word(2)? & 0x800f != 0x8000 {
        return None;
    }
    let (questions, answers) = (word(4)?, word(6)?);
    let mut at = 12;
    for _ in 0..questions {
        at = after_name(message, at)? + 4;
    }
    let mut found = Vec::new();
    for _ in 0..answers {
        at = after_name(message, at)?;
        let (kind, length) = (word(at)?, usize::from(word(at + 8)?));
        let data = message.get(at + 10..at + 10 + length)?;
        if kind == TYPE_A {
            found.push(Ipv4Addr::from(<[u8; 4]>::try_from(data).ok()?));
        }
        at += 10 + length;
    }
    Some(found)
}

/// Where a name ends: at its root, or at a reference to another.
fn after_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            length if length & 0xc0 == 0xc0 => return Some(at + 2),
            length => at += usize::from(length) + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_others_are_not() {
        let mut answer = question(7, "api.example.com");
        (answer[2], answer[3], answer[7]) = (0x81, 0x80, 2);
        // An alias first, and then the address.
        answer.extend([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 2, 0xc0, 12]);
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 66, 1, 0]);
        assert_eq!(addresses(&answer, 7), Some(vec![Ipv4Addr::new(127, 66, 1, 0)]));
        assert_eq!(addresses(&answer, 8), None);
        assert_eq!(addresses(&answer[..answer.len() - 1], 7), None);
        answer[3] = 0x83;
        assert_eq!(addresses(&answer, 7), None);
    }
}
