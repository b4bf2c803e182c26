//! Sockets of either kind.

use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::Mode;
use rustix::net::sockopt;

use super::Address;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A peer whose machine is gone is noticed after a few of these.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

pub enum Connection {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Connection {
    /// Waits no longer than `patience` for each address of a host.
    pub fn open(address: &Address, patience: Duration) -> io::Result<Self> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Self::Unix),
            Address::Tcp { host, port } => {
                let mut error = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
                for candidate in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&candidate, CONNECT_TIMEOUT.min(patience)) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            return Ok(Self::Tcp(stream));
                        }
                        Err(refused) => error = refused,
                    }
                }
                Err(error)
            }
        }
    }

    pub fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Tcp(stream) => stream.try_clone().map(Self::Tcp),
            Self::Unix(stream) => stream.try_clone().map(Self::Unix),
        }
    }

    /// Ends both directions for all clones, and wakes threads that are blocked on them.
    pub fn shut_down(&self) {
        // It fails if the peer has done so already.
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    /// Whether a read would not wait: there are bytes, or the end.
    pub fn has_input(&self) -> bool {
        const NOW: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut watched = [PollFd::from_borrowed_fd(self.descriptor(), PollFlags::IN)];
        poll(&mut watched, Some(&NOW)).is_ok_and(|ready| ready > 0)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }

    /// How long a read or a write may wait.
    pub fn set_timeouts(&self, read: Duration, write: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_read_timeout(Some(read))?;
                stream.set_write_timeout(Some(write))
            }
            Self::Unix(stream) => {
                stream.set_read_timeout(Some(read))?;
                stream.set_write_timeout(Some(write))
            }
        }
    }
}

impl Read for &Connection {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => (&*stream).read(bytes),
            Connection::Unix(stream) => (&*stream).read(bytes),
        }
    }
}

impl Write for &Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => (&*stream).write(bytes),
            Connection::Unix(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether an error only says that nothing came in time.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// The socket of a path is its owner's alone; one that a dead collector left behind is replaced. Without
    /// `allow_remote`, TCP only on the loopback interface.
    pub fn bind(address: &Address, allow_remote: bool) -> io::Result<Self> {
        match address {
            Address::Unix(path) => bind_unix(path),
            Address::Tcp { host, port } => {
                let addresses: Vec<SocketAddr> = (host.as_str(), *port).to_socket_addrs()?.collect();
                let remote = addresses.iter().find(|address| !address.ip().is_loopback());
                if let Some(remote) = remote.filter(|_| !allow_remote) {
                    return Err(io::Error::new(
                        io::ErrorKind::PermissionDenied,
                        format!(
                            "{} can be reached from other machines, and there is neither authentication nor encryption; \
                             listen on 127.0.0.1, or pass --allow-remote",
                            remote.ip()
                        ),
                    ));
                }
                let listener = TcpListener::bind(addresses.as_slice())?;
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listener))
            }
        }
    }

    /// Where it listens, with the port that the system chose.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Self::Unix(_, path) => Ok(Address::Unix(path.clone())),
            Self::Tcp(listener) => listener.local_addr().map(|address| Address::Tcp {
                host: address.ip().to_string(),
                port: address.port(),
            }),
        }
    }

    /// The next connection, if one comes in time.
    pub fn accept(&self, timeout: Timespec) -> io::Result<Option<Connection>> {
        let mut watched = [PollFd::from_borrowed_fd(self.descriptor(), PollFlags::IN)];
        match poll(&mut watched, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let accepted = match self {
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| Connection::Tcp(stream)),
            Self::Unix(listener, _) => listener.accept().map(|(stream, _)| Connection::Unix(stream)),
        };
        match accepted {
            Ok(connection) => prepare(connection).map(Some),
            Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::ConnectionAborted => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener, _) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // Another process may have removed it before us.
            let _ = fs::remove_file(path);
        }
    }
}

fn prepare(connection: Connection) -> io::Result<Connection> {
    match &connection {
        Connection::Tcp(stream) => {
            stream.set_nonblocking(false)?;
            stream.set_nodelay(true)?;
            sockopt::set_socket_keepalive(stream, true)?;
            sockopt::set_tcp_keepidle(stream, KEEP_ALIVE)?;
            sockopt::set_tcp_keepintvl(stream, KEEP_ALIVE)?;
        }
        Connection::Unix(stream) => stream.set_nonblocking(false)?,
    }
    Ok(connection)
}

fn bind_unix(path: &Path) -> io::Result<Listener> {
    remove_stale_socket(path)?;
    // No other user may connect, from the first moment on.
    let former = rustix::process::umask(Mode::from_raw_mode(0o177));
    let bound = UnixListener::bind(path);
    rustix::process::umask(former);
    let listener = bound?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(Listener::Unix(listener, path.to_path_buf()))
}

/// Removes a socket at which no process listens any more. Anything else stays, and `bind` refuses it.
fn remove_stale_socket(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if !is_socket {
        return Ok(());
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        _ => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another process listens there",
        )),
    }
}
