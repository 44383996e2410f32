//! A name server that loses replies, between us and a real one.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UdpSocket},
    task::JoinHandle,
};

/// Hands packets and connections on, and swallows some replies.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    tasks: [JoinHandle<()>; 2],
}

impl Proxy {
    /// Loses the first replies to packets, and the first replies by connection.
    pub(crate) async fn start(server: SocketAddr, lost_packets: u32, lost_replies: u32) -> Self {
        let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), landfall_testkit::ports::free_port());
        let packets = Arc::new(UdpSocket::bind(address).await.unwrap());
        let connections = TcpListener::bind(address).await.unwrap();
        let (lost_packets, lost_replies) = (AtomicU32::new(lost_packets), AtomicU32::new(lost_replies));
        let by_packet = tokio::spawn(async move {
            let mut buffer = vec![0; 65535];
            while let Ok((length, client)) = packets.recv_from(&mut buffer).await {
                let (request, packets, lose) = (buffer[..length].to_vec(), Arc::clone(&packets), take(&lost_packets));
                tokio::spawn(async move {
                    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                    socket.send_to(&request, server).await.unwrap();
                    let mut reply = vec![0; 65535];
                    let length = socket.recv(&mut reply).await.unwrap();
                    if !lose {
                        packets.send_to(&reply[..length], client).await.unwrap();
                    }
                });
            }
        });
        let by_connection = tokio::spawn(async move {
            while let Ok((mut client, _)) = connections.accept().await {
                let lose = take(&lost_replies);
                tokio::spawn(async move {
                    let mut upstream = TcpStream::connect(server).await.unwrap();
                    let length = client.read_u16().await.unwrap();
                    let mut request = vec![0; length.into()];
                    client.read_exact(&mut request).await.unwrap();
                    upstream.write_all(&[&length.to_be_bytes(), request.as_slice()].concat()).await.unwrap();
                    let length = upstream.read_u16().await.unwrap();
                    let mut reply = vec![0; length.into()];
                    upstream.read_exact(&mut reply).await.unwrap();
                    if !lose {
                        client.write_all(&[&length.to_be_bytes(), reply.as_slice()].concat()).await.unwrap();
                    }
                });
            }
        });
        Self { address, tasks: [by_packet, by_connection] }
    }
}

fn take(count: &AtomicU32) -> bool {
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}
