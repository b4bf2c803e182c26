//! What the recorder and the sending thread share.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use crate::streaming::connection::{is_timeout, Connection};
use crate::streaming::protocol::Hello;
use crate::streaming::window::Window;
use crate::Route;

/// Longest delay until the user's impatience is noticed.
const PATIENCE_TICK: Duration = Duration::from_millis(50);

pub struct Link {
    pub route: Route,
    pub hello: Hello,
    pub notify: fn(&str),
    /// Set when the user doesn't want to wait any longer.
    impatience: OnceLock<Arc<AtomicBool>>,
    state: Mutex<State>,
    pub changed: Condvar,
}

pub struct State {
    pub window: Window,
    pub phase: Phase,
    /// The end chunk is in the window.
    pub ended: bool,
    /// Position after the last piece that the present connection was given.
    pub sent: u64,
    /// When the collector last acknowledged, or was given something to acknowledge.
    pub last_progress: Instant,
    /// Why the present connection failed.
    pub failure: Option<Failure>,
    pub connection: Option<Connection>,
}

pub enum Phase {
    /// Connected, or trying to be.
    Sending,
    /// Given up for this reason.
    Lost(String),
    /// Lost, to be tried once more.
    Reviving,
    /// All of it is acknowledged.
    Done,
    Cancelled,
}

impl Phase {
    pub fn is_sending(&self) -> bool {
        matches!(self, Self::Sending)
    }
}

#[derive(Clone)]
pub enum Failure {
    /// Worth another attempt.
    Broken(String),
    /// The collector doesn't want it.
    Refused(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // Another attempt would end in the same way.
            io::ErrorKind::InvalidData | io::ErrorKind::Unsupported => Self::Refused(error.to_string()),
            io::ErrorKind::UnexpectedEof => Self::Broken("it closed the connection".into()),
            _ if is_timeout(&error) => Self::Broken("it does not answer".into()),
            _ => Self::Broken(error.to_string()),
        }
    }
}

impl Link {
    pub fn new(route: Route, hello: Hello, notify: fn(&str)) -> Self {
        let state = State {
            window: Window::new(),
            phase: Phase::Sending,
            ended: false,
            sent: 0,
            last_progress: Instant::now(),
            failure: None,
            connection: None,
        };
        Self {
            route,
            hello,
            notify,
            impatience: OnceLock::new(),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn wait<'l>(&self, state: MutexGuard<'l, State>) -> MutexGuard<'l, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn heed(&self, impatience: Arc<AtomicBool>) {
        // Only the first flag counts.
        let _ = self.impatience.set(impatience);
    }

    pub fn is_impatient(&self) -> bool {
        let impatience = self.impatience.get();
        impatience.is_some_and(|impatience| impatience.load(Relaxed))
    }

    /// Waits for a change, but not longer than the user wants to.
    pub fn wait_patiently<'l>(&'l self, state: MutexGuard<'l, State>) -> MutexGuard<'l, State> {
        let waited = self.changed.wait_timeout(state, PATIENCE_TICK);
        let (mut state, _) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
        if state.phase.is_sending() && self.is_impatient() {
            state.phase = Phase::Lost(format!(
                "{}: interrupted while {} bytes were not acknowledged by the collector; the trace there ends early",
                self.route.address,
                state.window.length()
            ));
            if let Some(connection) = &state.connection {
                connection.shut_down();
            }
            self.changed.notify_all();
        }
        state
    }

    /// Ends the sending thread, wherever it is.
    pub fn cancel(&self) {
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Done) {
            state.phase = Phase::Cancelled;
        }
        if let Some(connection) = &state.connection {
            connection.shut_down();
        }
        self.changed.notify_all();
    }
}
