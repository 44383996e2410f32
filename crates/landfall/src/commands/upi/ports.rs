//! What answers at the ports of load balancer and machines.

use std::{net::SocketAddr, time::Duration};

use futures::future::join_all;
use landfall_upi::{
    Port,
    check::{PortView, Sight},
};
use landfall_wire::{Client, Limits, Request, Trust};
use tokio::{io::AsyncReadExt as _, net::TcpStream, time::timeout};

/// For a connection, and for an answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// A balancer that has nobody to send a connection to closes it at once; a server waits for the client to speak.
const SILENCE: Duration = Duration::from_millis(500);

/// Looks at a port of the load balancer and at the machines behind it.
pub(super) async fn look(port: Port) -> anyhow::Result<PortView> {
    // Nothing secret is sent, and what is said is compared, not believed.
    let limits = Limits { connect: PATIENCE, exchange: PATIENCE, answer: 1 << 20 };
    let client = Client::new(&Trust::Unverified, limits)?;
    let see = |socket: SocketAddr| sight(&client, socket, port.health);
    let front = join_all(port.sockets().map(async |socket| (socket, see(socket).await))).await;
    let back =
        join_all(port.servers.iter().map(async |(name, socket)| (name.clone(), *socket, see(*socket).await))).await;
    Ok(PortView { front, back, port })
}

async fn sight(client: &Client, socket: SocketAddr, health: Option<&str>) -> Sight {
    let mut stream = match timeout(PATIENCE, TcpStream::connect(socket)).await {
        Err(_) => return Sight::Closed(format!("no answer within {PATIENCE:?}")),
        Ok(Err(error)) => return Sight::Closed(error.to_string()),
        Ok(Ok(stream)) => stream,
    };
    let Some(path) = health else {
        let mut byte = [0];
        return match timeout(SILENCE, stream.read(&mut byte)).await {
            Err(_) | Ok(Ok(1..)) => Sight::Answers(None),
            Ok(Ok(0) | Err(_)) => Sight::Listens,
        };
    };
    let Ok(url) = format!("https://{socket}{path}").parse() else { return Sight::Listens };
    match client.send(Request::get(url)).await {
        Ok(reply) => Sight::Answers(Some(reply.status())),
        Err(_) => Sight::Listens,
    }
}
