//! The loopback listener, with connections that can be reset on purpose.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Accepts connections for the server.
pub(super) struct LoopbackListener {
    listener: TcpListener,
    closed: Arc<AtomicBool>,
}

impl LoopbackListener {
    /// `closed` breaks every connection once it is set, also those with an answer half sent.
    pub(super) fn new(listener: TcpListener, closed: Arc<AtomicBool>) -> Self {
        Self { listener, closed }
    }
}

/// What a request knows of its connection: the switch that turns its closing into a reset.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionSwitch(Arc<AtomicBool>);

impl ConnectionSwitch {
    /// From now on the connection ends with a reset, not an orderly close.
    pub(super) fn reset_on_close(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Connected<IncomingStream<'_, LoopbackListener>> for ConnectionSwitch {
    fn connect_info(stream: IncomingStream<'_, LoopbackListener>) -> Self {
        stream.remote_addr().clone()
    }
}

impl Listener for LoopbackListener {
    type Io = Connection;
    type Addr = ConnectionSwitch;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        // The library's listener waits out passing errors such as too many open files.
        let (stream, _) = Listener::accept(&mut self.listener).await;
        let switch = ConnectionSwitch::default();
        (Connection { stream, switch: switch.clone(), closed: self.closed.clone() }, switch)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(ConnectionSwitch::default())
    }
}

/// A TCP connection that looks at its switch when it closes.
pub(super) struct Connection {
    stream: TcpStream,
    switch: ConnectionSwitch,
    closed: Arc<AtomicBool>,
}

impl Connection {
    fn check(&self) -> io::Result<()> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the origin has stopped"));
        }
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.switch.0.load(Ordering::SeqCst) {
            // Closing with a zero linger time makes the kernel send RST. Nothing depends on success.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.switch.0.load(Ordering::SeqCst) {
            // An orderly end first would hide the reset.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
