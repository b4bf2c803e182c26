//! The recorder's end of a connection to a collector. Chunks stay in a window until the collector has acknowledged
//! them; a thread of its own sends them, and connects anew when the connection is lost.

mod link;
mod send_loop;

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::thread::JoinHandle;

use trackway_trace::{file_header, random_identity, Chunk};

use super::protocol::Hello;
use crate::sink::{ChunkSink, SinkError};
use crate::{RecordError, Route};
use link::{Failure, Link, Phase};
use send_loop::GREETING_TIMEOUT;

pub struct Sender {
    link: Arc<Link>,
    thread: Option<JoinHandle<()>>,
}

impl Sender {
    /// `notify` is told if the collector stays out of reach.
    pub fn connect(route: &Route, program: &OsStr, notify: fn(&str)) -> Result<Self, RecordError> {
        let identity = random_identity().map_err(|source| RecordError::System {
            action: "draw the trace's random identity",
            source,
        })?;
        let name = Path::new(program).file_name().unwrap_or(program);
        let hello = Hello {
            identity,
            first: 0,
            name: name.to_string_lossy().into_owned(),
        };
        let link = Arc::new(Link::new(route.clone(), hello, notify));
        link.lock().window.push(&file_header(identity));
        let connection = link
            .greet(GREETING_TIMEOUT)
            .map_err(|failure| RecordError::NoCollector {
                address: route.address.clone(),
                reason: match failure {
                    Failure::Broken(reason) => reason,
                    Failure::Refused(reason) => format!("it refuses the trace: {reason}"),
                },
            })?;
        let thread = std::thread::Builder::new()
            .name("trackway-sender".into())
            .spawn({
                let link = Arc::clone(&link);
                move || link.run(connection)
            })
            .map_err(|source| RecordError::System {
                action: "start the thread that sends the trace",
                source,
            })?;
        Ok(Self {
            link,
            thread: Some(thread),
        })
    }

    fn stop(&mut self) {
        self.link.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed already.
            let _ = thread.join();
        }
    }
}

impl ChunkSink for Sender {
    fn heed(&mut self, impatience: Arc<AtomicBool>) {
        self.link.heed(impatience);
    }

    fn append(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        let length = chunk.header.chunk_length();
        let mut state = self.link.lock();
        while state.phase.is_sending()
            && state.window.length() > 0
            && state.window.length() + length > self.link.route.window_bytes
        {
            state = self.link.wait_patiently(state);
        }
        if let Phase::Lost(message) = &state.phase {
            return Err(message.clone().into());
        }
        state.window.push(&chunk.to_bytes());
        drop(state);
        self.link.changed.notify_all();
        Ok(())
    }

    fn revive(&mut self) -> bool {
        if self.link.is_impatient() {
            return false;
        }
        let mut state = self.link.lock();
        state.phase = Phase::Reviving;
        self.link.changed.notify_all();
        while matches!(state.phase, Phase::Reviving) {
            state = self.link.wait(state);
        }
        state.phase.is_sending()
    }

    fn finish(&mut self) -> Result<u64, SinkError> {
        let mut state = self.link.lock();
        state.ended = true;
        self.link.changed.notify_all();
        while state.phase.is_sending() {
            state = self.link.wait_patiently(state);
        }
        match &state.phase {
            Phase::Lost(message) => Err(message.clone().into()),
            _ => Ok(state.window.end()),
        }
    }

    fn cancel(&mut self) {
        self.stop();
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.stop();
    }
}
