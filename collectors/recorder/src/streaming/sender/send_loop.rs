//! The sending thread: sends over one connection after the other, until all is acknowledged or none comes any more.

use std::io::{self, BufReader, Read, Write};
use std::time::{Duration, Instant};

use super::link::{Failure, Link, Phase};
use crate::streaming::connection::{is_timeout, Connection};
use crate::streaming::protocol::{Hello, Reply, FAREWELL};

/// How long a collector may take to say how much it has, since it checks all of that. While a lost connection is tried
/// again, only the time left for that counts.
pub const GREETING_TIMEOUT: Duration = Duration::from_secs(30);
/// Acknowledgements are waited for in steps of this at most.
const TICK: Duration = Duration::from_secs(1);
/// A time-out of 0 would mean none.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);
/// At the end of the recording, a collector that is back gets this long, however little was left before.
const SHORTEST_REVIVAL: Duration = Duration::from_secs(2);
const SHORTEST_DELAY: Duration = Duration::from_millis(20);
const LONGEST_DELAY: Duration = Duration::from_secs(2);

impl Link {
    /// The sending thread: sends until all is acknowledged, or the connection stays lost.
    pub fn run(&self, connection: Connection) {
        let mut connection = Some(connection);
        loop {
            let lost = self.keep_sending(connection.take()).err();
            let mut state = self.lock();
            if matches!(state.phase, Phase::Cancelled) {
                return;
            }
            let Some(reason) = lost else {
                state.phase = Phase::Done;
                self.changed.notify_all();
                return;
            };
            if state.phase.is_sending() {
                (self.notify)(&reason);
                state.phase = Phase::Lost(reason.clone());
                self.changed.notify_all();
            }
            while matches!(state.phase, Phase::Lost(_)) {
                state = self.wait(state);
            }
            if matches!(state.phase, Phase::Cancelled) {
                return;
            }
            drop(state);
            connection = self.revive(reason);
            if connection.is_none() {
                return; // it is asked once
            }
        }
    }

    fn revive(&self, reason: String) -> Option<Connection> {
        let patience = self
            .route
            .reconnect_timeout
            .clamp(SHORTEST_REVIVAL, GREETING_TIMEOUT);
        let greeted = self.greet(patience);
        let mut state = self.lock();
        state.phase = match greeted {
            Ok(_) => Phase::Sending,
            Err(_) => Phase::Lost(reason),
        };
        self.changed.notify_all();
        greeted.ok()
    }

    /// Sends, and connects again whenever the connection breaks. An error says why it gave up.
    fn keep_sending(&self, mut connection: Option<Connection>) -> Result<(), String> {
        let mut failing_since = None;
        let mut delay = SHORTEST_DELAY;
        loop {
            let was_acknowledged = self.lock().window.first();
            let attempt = match connection.take() {
                Some(connection) => self.send_over(connection),
                None => self
                    .greet(self.patience_left(failing_since))
                    .and_then(|connection| self.send_over(connection)),
            };
            let reason = match attempt {
                Ok(()) => return Ok(()),
                Err(Failure::Refused(reason)) => return Err(self.refused(&reason)),
                Err(Failure::Broken(reason)) => reason,
            };
            if !self.lock().phase.is_sending() {
                return Err(reason);
            }
            if self.has_come_on(was_acknowledged) {
                failing_since = None;
                delay = SHORTEST_DELAY;
            }
            failing_since.get_or_insert_with(|| self.silent_since());
            let left = self.patience_left(failing_since);
            if left.is_zero() {
                return Err(self.lost(&reason));
            }
            self.pause(delay.min(left));
            delay = (delay * 2).min(LONGEST_DELAY);
        }
    }

    /// How much longer the connection is tried again.
    fn patience_left(&self, failing_since: Option<Instant>) -> Duration {
        let failing = failing_since.map_or(Duration::ZERO, |since| since.elapsed());
        self.route.reconnect_timeout.saturating_sub(failing)
    }

    /// Since when a collector that owes acknowledgements has given none.
    fn silent_since(&self) -> Instant {
        let state = self.lock();
        match state.window.length() {
            0 => Instant::now(),
            _ => state.last_progress,
        }
    }

    /// Whether more is acknowledged than that, or nothing waits for it.
    fn has_come_on(&self, acknowledged: u64) -> bool {
        let state = self.lock();
        state.window.first() > acknowledged || state.window.length() == 0
    }

    fn refused(&self, reason: &str) -> String {
        format!(
            "{}: the collector does not take the trace: {reason}",
            self.route.address
        )
    }

    fn lost(&self, reason: &str) -> String {
        format!(
            "{}: the collector is out of reach for {} ({reason}): recording has ended there, the program goes on; a \
             collector that is started with the same output before the program ends still gets the rest up to the gap",
            self.route.address,
            humane(self.route.reconnect_timeout)
        )
    }

    fn pause(&self, delay: Duration) {
        let state = self.lock();
        if state.phase.is_sending() {
            let waited = self.changed.wait_timeout(state, delay);
            drop(waited.unwrap_or_else(|poisoned| poisoned.into_inner()));
        }
    }

    /// Connects and learns how much the collector has.
    pub fn greet(&self, patience: Duration) -> Result<Connection, Failure> {
        let greeted = self.try_to_greet(patience.clamp(SHORTEST_WAIT, GREETING_TIMEOUT));
        if greeted.is_err() {
            self.lock().connection = None;
        }
        greeted
    }

    fn try_to_greet(&self, patience: Duration) -> Result<Connection, Failure> {
        let connection = Connection::open(&self.route.address, patience)?;
        connection.set_timeouts(patience, patience)?;
        self.lock().connection = Some(connection.try_clone()?); // so that it can be shut down
        let hello = Hello {
            first: self.lock().window.first(),
            ..self.hello.clone()
        };
        (&connection).write_all(&hello.to_bytes())?;
        let mut first = [0];
        (&connection).read_exact(&mut first)?;
        let position = match Reply::read_after(first[0], &mut &connection)? {
            Reply::Position(position) => position,
            Reply::Refusal(reason) => return Err(Failure::Refused(reason)),
        };
        let mut state = self.lock();
        if !state.window.acknowledge(position) {
            return Err(Failure::Refused(format!(
                "it says that it has {position} bytes, where no chunk of the trace ends that is still here"
            )));
        }
        state.sent = position;
        state.last_progress = Instant::now();
        state.failure = None;
        self.changed.notify_all();
        Ok(connection)
    }

    /// Sends over a connection until all is acknowledged or it breaks.
    fn send_over(&self, connection: Connection) -> Result<(), Failure> {
        let stall = self.longest_stall();
        connection.set_timeouts(TICK.min(stall / 4).max(SHORTEST_WAIT), stall)?;
        let done = std::thread::scope(|scope| {
            scope.spawn(|| self.read_replies(&connection));
            let sent = self.send_pieces(&connection);
            connection.shut_down();
            sent
        });
        let mut state = self.lock();
        state.connection = None;
        match state.failure.take() {
            _ if done => Ok(()),
            Some(failure) => Err(failure),
            None => Err(Failure::Broken("the connection was shut down".into())),
        }
    }

    /// True once everything is acknowledged.
    fn send_pieces(&self, connection: &Connection) -> bool {
        loop {
            let mut state = self.lock();
            let piece = loop {
                if state.failure.is_some() || !state.phase.is_sending() {
                    return false;
                }
                if let Some(piece) = state.window.piece_at(state.sent) {
                    break piece;
                }
                if state.ended && state.window.length() == 0 {
                    drop(state);
                    // It has everything; should it not hear of our leaving, it needn't.
                    let mut connection = connection;
                    let _ = connection.write_all(FAREWELL);
                    return true;
                }
                state = self.wait(state);
            };
            if state.sent == state.window.first() {
                state.last_progress = Instant::now();
            }
            state.sent += piece.len() as u64;
            drop(state);
            let mut connection = connection;
            if let Err(error) = connection.write_all(&piece) {
                self.fail(error.into());
                return false;
            }
        }
    }

    /// Heeds acknowledgements until the connection breaks.
    fn read_replies(&self, connection: &Connection) {
        let mut replies = BufReader::with_capacity(4096, connection);
        let failure = loop {
            let mut first = [0];
            match replies.read(&mut first) {
                Ok(0) => break Failure::Broken("it closed the connection".into()),
                Ok(_) => match Reply::read_after(first[0], &mut replies) {
                    Ok(Reply::Position(position)) => {
                        if let Err(failure) = self.acknowledge(position) {
                            break failure;
                        }
                    }
                    Ok(Reply::Refusal(reason)) => break Failure::Refused(reason),
                    Err(error) => break Failure::Broken(error.to_string()),
                },
                Err(error) if is_timeout(&error) => {
                    if self.is_stalled() {
                        break Failure::Broken("it acknowledges nothing".into());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break error.into(),
            }
        };
        self.fail(failure);
        connection.shut_down();
    }

    fn acknowledge(&self, position: u64) -> Result<(), Failure> {
        let mut state = self.lock();
        if position > state.sent || !state.window.acknowledge(position) {
            return Err(Failure::Broken(format!(
                "it acknowledges a wrong position, {position}"
            )));
        }
        state.last_progress = Instant::now();
        self.changed.notify_all();
        Ok(())
    }

    fn is_stalled(&self) -> bool {
        let state = self.lock();
        state.sent > state.window.first() && state.last_progress.elapsed() > self.longest_stall()
    }

    /// The other half is for connecting again.
    fn longest_stall(&self) -> Duration {
        (self.route.reconnect_timeout / 2).max(SHORTEST_WAIT)
    }

    /// The first reason is kept: it may be the cause of the others.
    fn fail(&self, failure: Failure) {
        self.lock().failure.get_or_insert(failure);
        self.changed.notify_all();
    }
}

fn humane(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}
