//! The socket under a connection, which a fault may reset.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

/// How a service ends a connection instead of answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hangup {
    /// With a TCP reset, as from a host or a middlebox that lost the connection.
    Reset,
    /// With an orderly TCP close and no answer, as from a server process that ended.
    Close,
}

/// Lets a request end the connection it came on, whatever else is going on there (HTTP/2 carries several).
#[derive(Clone, Default)]
pub(super) struct ConnectionControl {
    reset: Arc<AtomicBool>,
    cut: CancellationToken,
}

impl ConnectionControl {
    pub(super) fn hang_up(&self, how: Hangup) {
        self.reset.store(how == Hangup::Reset, Ordering::Release);
        self.cut.cancel();
    }

    /// Returns when [`Self::hang_up`] was called.
    pub(super) async fn hung_up(&self) {
        self.cut.cancelled().await;
    }
}

/// A TCP stream that is reset when dropped, if its connection was hung up that way.
pub(super) struct Socket {
    stream: TcpStream,
    control: ConnectionControl,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, control: ConnectionControl) -> Self {
        Self { stream, control }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.control.reset.load(Ordering::Acquire) {
            // Failure means that the peer is gone already, which is what was wanted.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
