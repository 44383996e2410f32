//! The name server: answers for the account's zones and for the hostnames of load balancers.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::{A, CNAME, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::timeout;

use super::cloud::Cloud;
use super::vpc::LoadBalancer;
use crate::core::World;

/// How many aliases in a row are followed.
const ALIASES: usize = 8;
/// How long a client may be silent.
const SILENCE: Duration = Duration::from_secs(10);
const TTL: u32 = 60;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Data {
    Address(Ipv4Addr),
    Alias(String),
    Text(String),
}

/// Where questions arrive.
#[derive(Debug)]
pub(super) struct Sockets {
    udp: UdpSocket,
    tcp: TcpListener,
}

impl Sockets {
    /// Takes an address; with port 0, one that is free for both protocols.
    pub(super) async fn bind(listen: &str) -> io::Result<Self> {
        let mut last = None;
        for _ in 0..16 {
            let tcp = TcpListener::bind(listen).await?;
            match UdpSocket::bind(tcp.local_addr()?).await {
                Ok(udp) => return Ok(Self { udp, tcp }),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| io::Error::other("no port is free for both UDP and TCP")))
    }

    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// Answers for as long as it is polled.
    pub(super) async fn serve(self, world: World<Cloud>) {
        let tcp = connections(self.tcp, world.clone());
        tokio::join!(datagrams(Arc::new(self.udp), world), tcp);
    }
}

async fn datagrams(socket: Arc<UdpSocket>, world: World<Cloud>) {
    let mut buffer = vec![0; 4096];
    loop {
        let Ok((length, peer)) = socket.recv_from(&mut buffer).await else { continue };
        if let Some(reply) = answer(&world, &buffer[..length]) {
            // Whoever cannot be reached asks again, or does not.
            let _ = socket.send_to(&reply, peer).await;
        }
    }
}

async fn connections(listener: TcpListener, world: World<Cloud>) {
    let mut tasks = tokio::task::JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        while tasks.try_join_next().is_some() {}
        let world = world.clone();
        tasks.spawn(async move { connection(stream, &world).await.ok() });
    }
}

async fn connection(mut stream: TcpStream, world: &World<Cloud>) -> io::Result<()> {
    loop {
        let length = timeout(SILENCE, stream.read_u16()).await??;
        let mut query = vec![0; usize::from(length)];
        timeout(SILENCE, stream.read_exact(&mut query)).await??;
        let Some(reply) = answer(world, &query) else { return Ok(()) };
        stream.write_u16(u16::try_from(reply.len()).map_err(io::Error::other)?).await?;
        stream.write_all(&reply).await?;
    }
}

fn answer(world: &World<Cloud>, query: &[u8]) -> Option<Vec<u8>> {
    let query = Message::from_vec(query).ok()?;
    let question = query.queries.first()?.clone();
    let name = question.name().to_ascii().trim_end_matches('.').to_lowercase();
    let found = world.view(|cloud, _| find(cloud, &name, question.query_type()));
    let mut reply = Message::new(query.metadata.id, MessageType::Response, query.metadata.op_code);
    reply.metadata.recursion_desired = query.metadata.recursion_desired;
    reply.metadata.recursion_available = true;
    reply.metadata.authoritative = true;
    reply.add_query(question);
    match found {
        None => reply.metadata.response_code = ResponseCode::NXDomain,
        Some(records) => {
            for (owner, data) in records {
                reply.add_answer(record(&owner, data)?);
            }
        }
    }
    reply.to_vec().ok()
}

fn record(owner: &str, data: Data) -> Option<Record> {
    let name = |text: &str| {
        let mut name = Name::from_ascii(text).ok()?;
        name.set_fqdn(true);
        Some(name)
    };
    let data = match data {
        Data::Address(address) => RData::A(A(address)),
        Data::Alias(target) => RData::CNAME(CNAME(name(&target)?)),
        Data::Text(text) => RData::TXT(TXT::new(vec![text])),
    };
    Some(Record::from_rdata(name(owner)?, TTL, data))
}

/// What is known of a name: its records of a type and the aliases on the way; nothing if there is no such name.
fn find(cloud: &Cloud, name: &str, kind: RecordType) -> Option<Vec<(String, Data)>> {
    let mut found = Vec::new();
    let mut name = name.to_owned();
    for step in 0..ALIASES {
        let records = of_name(cloud, &name);
        if records.is_empty() {
            // An alias may lead out of here.
            return (step > 0).then_some(found);
        }
        let alias = records.iter().find_map(|data| match data {
            Data::Alias(target) => Some(target.clone()),
            _ => None,
        });
        for data in records {
            let fits = match &data {
                Data::Address(_) => kind == RecordType::A,
                Data::Alias(_) => true,
                Data::Text(_) => kind == RecordType::TXT,
            };
            if fits {
                found.push((name.clone(), data));
            }
        }
        match alias {
            Some(target) if kind != RecordType::CNAME => name = target,
            _ => return Some(found),
        }
    }
    Some(found)
}

/// The records of a name, or of the wildcard that it falls under.
fn of_name(cloud: &Cloud, name: &str) -> Vec<Data> {
    let own = exactly(cloud, name);
    if !own.is_empty() {
        return own;
    }
    let parents = name.match_indices('.').map(|(at, _)| format!("*{}", &name[at..]));
    parents.map(|wildcard| exactly(cloud, &wildcard)).find(|records| !records.is_empty()).unwrap_or_default()
}

fn exactly(cloud: &Cloud, name: &str) -> Vec<Data> {
    let state = &cloud.state;
    let is_named = |record: &&Value| record["name"].as_str().is_some_and(|own| own.eq_ignore_ascii_case(name));
    let active = |record: &&Value| {
        let zone = record["zone_id"].as_str().and_then(|id| state.public_zones.get(id));
        zone.is_some_and(|zone| zone["status"] == "active")
    };
    let public = state
        .public_records
        .values()
        .filter(active)
        .filter(is_named)
        .filter_map(|record| data(record["type"].as_str()?, record["content"].as_str()?));
    let private = state.private_records.values().filter(is_named).filter_map(|record| {
        let rdata = &record["rdata"];
        let value = ["ip", "cname", "text"].iter().find_map(|field| rdata[*field].as_str())?;
        data(record["type"].as_str()?, value)
    });
    let balancers = state.load_balancers.values().filter(|own| own.hostname == name && own.status.is_in_effect());
    let addresses = balancers.flat_map(LoadBalancer::addresses).map(|address| Data::Address(*address));
    public.chain(private).chain(addresses).collect()
}

fn data(kind: &str, value: &str) -> Option<Data> {
    match kind {
        "A" => value.parse().ok().map(Data::Address),
        "CNAME" => Some(Data::Alias(value.trim_end_matches('.').to_lowercase())),
        "TXT" => Some(Data::Text(value.trim_matches('"').to_owned())),
        _ => None,
    }
}
