//! The visitors that are connected, and the choice of the one that makes room when there is none left.
//!
//! Any client may connect to a collector that listens on TCP. So a connection has to earn its place: one that has
//! brought nothing yet makes room for a newer one. One that brings a trace keeps its place, unless it was silent for
//! long: its sender connects again, and goes on where it was.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::streaming::connection::Connection;

/// Connections at once.
const MOST: usize = 256;
/// Programs may compute for long between two chunks; to connect again costs a check of the trace's file.
const LONG_SILENCE: Duration = Duration::from_secs(30);

/// How far a visitor has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Connected,
    Greeted,
    BringsChunks,
}

struct Visitor {
    connection: Connection,
    stage: Stage,
    /// When it last came further.
    active: Instant,
}

#[derive(Default)]
pub struct Visitors {
    of_number: HashMap<u64, Visitor>,
    next: u64,
}

impl Visitors {
    /// Takes a visitor in and returns its number; none if all places are taken by others that use them.
    pub fn admit(&mut self, connection: Connection, now: Instant) -> Option<u64> {
        if self.of_number.len() >= MOST {
            let leaving = self.dispensable(now)?;
            if let Some(visitor) = self.of_number.remove(&leaving) {
                visitor.connection.shut_down();
            }
        }
        let number = self.next;
        self.next += 1;
        let visitor = Visitor {
            connection,
            stage: Stage::Connected,
            active: now,
        };
        self.of_number.insert(number, visitor);
        Some(number)
    }

    /// The visitor to drop: one without chunks, else one that was silent for long. Among equals the one that was silent
    /// for longest goes. A hello makes no difference: a recorder that has just connected outlasts all that wait.
    fn dispensable(&self, now: Instant) -> Option<u64> {
        let can_be_missed = |visitor: &Visitor| {
            visitor.stage < Stage::BringsChunks
                || now.saturating_duration_since(visitor.active) >= LONG_SILENCE
        };
        self.of_number
            .iter()
            .filter(|(_, visitor)| can_be_missed(visitor))
            .min_by_key(|(number, visitor)| (visitor.stage == Stage::BringsChunks, visitor.active, **number))
            .map(|(number, _)| *number)
    }

    pub fn note(&mut self, number: u64, stage: Stage, now: Instant) {
        if let Some(visitor) = self.of_number.get_mut(&number) {
            (visitor.stage, visitor.active) = (stage, now);
        }
    }

    pub fn remove(&mut self, number: u64) {
        self.of_number.remove(&number);
    }

    pub fn send_all_away(&self) {
        self.of_number
            .values()
            .for_each(|visitor| visitor.connection.shut_down());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read};
    use std::os::unix::net::UnixStream;

    struct Crowd {
        visitors: Visitors,
        peers: Vec<UnixStream>,
        start: Instant,
    }

    impl Crowd {
        fn new() -> Crowd {
            Crowd {
                visitors: Visitors::default(),
                peers: Vec::new(),
                start: Instant::now(),
            }
        }

        fn at(&self, second: u64) -> Instant {
            self.start + Duration::from_secs(second)
        }

        fn connect(&mut self, second: u64) -> Option<u64> {
            let (ours, theirs) = UnixStream::pair().unwrap();
            theirs.set_nonblocking(true).unwrap();
            self.peers.push(theirs);
            self.visitors.admit(Connection::Unix(ours), self.at(second))
        }

        fn note(&mut self, number: u64, stage: Stage, second: u64) {
            let now = self.at(second);
            self.visitors.note(number, stage, now);
        }

        fn was_sent_away(&self, number: u64) -> bool {
            let mut peer = &self.peers[number as usize];
            match peer.read(&mut [0]) {
                Ok(read) => read == 0,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    false
                }
            }
        }

        fn fill(stage: Stage) -> Crowd {
            let mut crowd = Crowd::new();
            for number in 0..MOST as u64 {
                assert_eq!(crowd.connect(0), Some(number));
                crowd.note(number, stage, number % 2);
            }
            crowd
        }
    }

    #[test]
    fn those_that_only_said_hello_make_room() {
        let mut crowd = Crowd::fill(Stage::Greeted);
        for turn in 0..3 * MOST as u64 {
            assert!(crowd.connect(2).is_some(), "turn {turn}");
        }
        assert!(crowd.was_sent_away(0) && crowd.was_sent_away(1));
    }

    #[test]
    fn a_newcomer_outlives_all_who_wait() {
        let mut crowd = Crowd::fill(Stage::Greeted);
        let newcomer = crowd.connect(2).unwrap();
        for _ in 1..MOST {
            crowd.connect(3).unwrap();
        }
        assert!(!crowd.was_sent_away(newcomer));
        assert!((0..MOST as u64).all(|number| crowd.was_sent_away(number)));
    }

    #[test]
    fn whoever_brings_a_trace_stays_unless_silent_for_long() {
        let mut crowd = Crowd::fill(Stage::BringsChunks);
        assert_eq!(crowd.connect(20), None);
        crowd.note(3, Stage::Greeted, 20);
        assert!(crowd.connect(20).is_some());
        assert!(crowd.was_sent_away(3));
        crowd.note(MOST as u64, Stage::BringsChunks, 20);
        assert!(crowd.connect(31).is_some());
        assert!(crowd.was_sent_away(0), "it was silent since the start");
        assert!(!crowd.was_sent_away(1));
    }
}
