//! The collector: takes the traces of several programs at once and keeps each in a file of its own.

mod feed;
mod part;
mod session;
mod trace_store;
mod visitors;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::event::Timespec;

use super::connection::{Connection, Listener};
use super::Address;
use crate::signals::Signals;
pub use feed::{ArrivedChunk, Feed, FeedError, TraceFeed};
use trace_store::TraceStore;
use visitors::{Stage, Visitors};

/// Longest delay until signals and the end of the last trace are noticed.
const TICK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};
/// How long a sender that has not said farewell may take to come back for the last acknowledgement.
const GRACE: Duration = Duration::from_secs(5);

/// Where to listen and where traces go.
#[derive(Debug, Clone)]
pub struct CollectOptions {
    pub listen: Address,
    /// Listen where other machines can connect, too.
    pub allow_remote: bool,
    pub output: CollectOutput,
    /// The feed that gets the chunks of all traces first, if there is one.
    pub feed: Option<Arc<dyn Feed>>,
    /// Take this many traces and end when they are complete; none: until SIGINT, SIGTERM, SIGHUP or SIGQUIT.
    pub count: Option<u64>,
    /// Have each chunk on the disk before it is acknowledged, in case of a power failure.
    pub sync: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollectOutput {
    /// A file for each trace, named after the program and the trace's identity.
    Folder(PathBuf),
    /// One trace. A file of another trace is replaced only with `force`.
    File { path: PathBuf, force: bool },
    /// No file: the traces only go to the feed.
    FeedOnly,
}

/// What happens in a collector.
#[derive(Debug)]
pub enum CollectEvent<'e> {
    /// Programs may be recorded to this address from now on.
    Listening {
        address: &'e Address,
    },
    Began {
        path: &'e Path,
    },
    /// An unfinished trace goes on after its first `position` bytes.
    Resumed {
        path: &'e Path,
        position: u64,
    },
    /// The connection ended before the trace did; its sender may come back.
    Interrupted {
        path: &'e Path,
        position: u64,
        why: &'e str,
    },
    Completed {
        path: &'e Path,
        bytes: u64,
    },
    /// A peer was turned away.
    Rejected {
        why: &'e str,
    },
}

/// What a collector took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectSummary {
    pub complete: u64,
    /// Valid traces without an end. Their senders may go on with another collector of the same output.
    pub unfinished: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    #[error("cannot listen at {address}: {source}")]
    Listen { address: Address, source: io::Error },

    #[error("cannot create the folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },

    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
}

/// Takes traces until as many as wanted are complete, or a signal ends it. `on_event` is called from several threads.
pub fn collect(
    options: &CollectOptions,
    on_event: &(dyn Fn(CollectEvent) + Sync),
) -> Result<CollectSummary, CollectError> {
    let system = |action| move |source| CollectError::System { action, source };
    let mut signals = Signals::catch().map_err(system("catch signals"))?;
    if let CollectOutput::Folder(path) = &options.output {
        create_folder(path)?;
    }
    let listening = |source| CollectError::Listen {
        address: options.listen.clone(),
        source,
    };
    let listener = Listener::bind(&options.listen, options.allow_remote).map_err(listening)?;
    let address = listener.address().map_err(listening)?;
    on_event(CollectEvent::Listening { address: &address });
    let server = Server {
        trace_store: TraceStore::new(options),
        on_event,
        visitors: Mutex::default(),
        closing: AtomicBool::new(false),
    };
    let ended = std::thread::scope(|scope| {
        let mut all_complete_since = None;
        let ended = loop {
            if signals.pending().next().is_some() {
                break Ok(());
            }
            if server.trace_store.all_complete() {
                let since = *all_complete_since.get_or_insert_with(Instant::now);
                if server.trace_store.all_left() || since.elapsed() > GRACE {
                    break Ok(());
                }
            }
            match listener.accept(TICK) {
                Ok(Some(connection)) => {
                    if let Some((number, connection)) = server.admit(connection) {
                        scope.spawn({
                            let server = &server;
                            move || server.receive(number, &connection)
                        });
                    }
                }
                Ok(None) => {}
                Err(source) => break Err(listening(source)),
            }
        };
        server.close();
        ended
    });
    ended.map(|()| server.trace_store.summary())
}

fn create_folder(path: &Path) -> Result<(), CollectError> {
    use std::os::unix::fs::DirBuilderExt;
    let created = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path);
    created.map_err(|source| CollectError::Folder {
        path: path.to_path_buf(),
        source,
    })
}

/// What the threads that receive share.
struct Server<'o> {
    trace_store: TraceStore,
    on_event: &'o (dyn Fn(CollectEvent) + Sync),
    visitors: Mutex<Visitors>,
    closing: AtomicBool,
}

impl Server<'_> {
    fn visitors(&self) -> MutexGuard<'_, Visitors> {
        self.visitors
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The connection with its number; none if there are too many.
    fn admit(&self, connection: Connection) -> Option<(u64, Connection)> {
        let known = connection.try_clone().ok()?;
        let Some(number) = self.visitors().admit(known, Instant::now()) else {
            (self.on_event)(CollectEvent::Rejected {
                why: "there are too many connections",
            });
            return None;
        };
        Some((number, connection))
    }

    /// How far a visitor has come now.
    fn note(&self, number: u64, stage: Stage) {
        self.visitors().note(number, stage, Instant::now());
    }

    /// A connection from its first byte to its last.
    fn receive(&self, number: u64, connection: &Connection) {
        session::receive(self, number, connection);
        connection.shut_down();
        self.visitors().remove(number);
    }

    /// Closes all connections; what they have brought so far stays.
    fn close(&self) {
        self.closing.store(true, Relaxed);
        self.visitors().send_all_away();
    }
}
