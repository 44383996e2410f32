//! What answers at the ports of load balancer and machines.

use std::{net::SocketAddr, time::Duration};

use futures::future::join_all;
use landfall_upi::{
    Port,
    check::{PortView, Sight},
};
use landfall_wire::{Client, Error as WireError, Limits, Request, Trust};
use tokio::{
    io::AsyncReadExt as _,
    net::TcpStream,
    time::{sleep, timeout},
};

use super::authority::Authority;

/// For a connection, and for an answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// A balancer that has nobody to send a connection to closes it at once; a server waits for the client to speak.
const SILENCE: Duration = Duration::from_millis(500);

/// What a server that is well answers.
const WELL: u16 = 200;

/// A load balancer sends nobody to a machine until it has found it well a few times.
const LOOKS: usize = 5;
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

/// Looks at a port of the load balancer and at the machines behind it; again, if a machine is well and not yet led to.
/// `authority` is who signs for whoever answers there, if that is known.
pub(super) async fn look(port: Port, authority: Option<&Authority>) -> anyhow::Result<PortView> {
    let mut view = look_once(port, authority).await?;
    for _ in 1..LOOKS {
        let leads_nowhere = view.front.iter().any(|(_, sight)| *sight == Sight::Listens);
        if !(leads_nowhere && view.back.iter().any(|(_, _, sight)| matches!(sight, Sight::Answers(_)))) {
            break;
        }
        sleep(BETWEEN_LOOKS).await;
        view = look_once(view.port, authority).await?;
    }
    Ok(view)
}

async fn look_once(port: Port, authority: Option<&Authority>) -> anyhow::Result<PortView> {
    let probe = Probe { health: port.health, authority };
    let see = |socket: SocketAddr| probe.sight(socket);
    let front = join_all(port.sockets().map(async |socket| anyhow::Ok((socket, see(socket).await?)))).await;
    let back = port.servers.iter();
    let back =
        join_all(back.map(async |(name, socket)| anyhow::Ok((name.clone(), *socket, see(*socket).await?)))).await;
    let (front, back) = (front.into_iter().collect::<Result<_, _>>()?, back.into_iter().collect::<Result<_, _>>()?);
    Ok(PortView { front, back, port })
}

/// How a socket is looked at.
struct Probe<'a> {
    health: Option<&'static str>,
    authority: Option<&'a Authority>,
}

impl Probe<'_> {
    async fn sight(&self, socket: SocketAddr) -> anyhow::Result<Sight> {
        let mut stream = match timeout(PATIENCE, TcpStream::connect(socket)).await {
            Err(_) => return Ok(Sight::Closed(format!("no answer within {PATIENCE:?}"))),
            Ok(Err(error)) => return Ok(Sight::Closed(error.to_string())),
            Ok(Ok(stream)) => stream,
        };
        let Some(path) = self.health else {
            let mut byte = [0];
            return Ok(match timeout(SILENCE, stream.read(&mut byte)).await {
                Err(_) | Ok(Ok(1..)) => Sight::Answers(None),
                Ok(Ok(0) | Err(_)) => Sight::Listens,
            });
        };
        drop(stream);
        // Nothing secret is sent, and what is said is compared, not believed.
        let Ok(status) = ask(&Trust::Unverified, &socket.ip().to_string(), socket, path).await? else {
            return Ok(Sight::Listens);
        };
        // Whoever says that all is well may be anybody; who belongs to the cluster can prove it.
        if let Some(Authority { name, trust }) = self.authority.filter(|_| status == WELL)
            && let Err(WireError::Certificate { .. }) = ask(trust, name, socket, path).await?
        {
            return Ok(Sight::Foreign);
        }
        Ok(Sight::Answers(Some(status)))
    }
}

/// The status that is answered to a question for health, by whom the trust allows.
async fn ask(
    trust: &Trust,
    name: &str,
    socket: SocketAddr,
    path: &str,
) -> anyhow::Result<std::result::Result<u16, WireError>> {
    let limits = Limits { connect: PATIENCE, exchange: PATIENCE, answer: 1 << 20 };
    let client = Client::builder(trust, limits)?.direct().resolve(name, socket).build()?;
    let host = if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
    let url = format!("https://{host}:{}{path}", socket.port()).parse()?;
    Ok(client.send(Request::get(url)).await.map(|reply| reply.status()))
}
