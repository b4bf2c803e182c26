//! The part of a trace that a sender keeps until it is acknowledged.

use std::collections::VecDeque;
use std::sync::Arc;

/// Pieces of the trace, each the header of the file or a chunk, one after the other.
pub struct Window {
    pieces: VecDeque<Piece>,
    /// Where the first piece begins: everything before is acknowledged.
    first: u64,
    /// Position after the last piece.
    end: u64,
}

struct Piece {
    position: u64,
    bytes: Arc<[u8]>,
}

impl Window {
    pub fn new() -> Self {
        Self {
            pieces: VecDeque::new(),
            first: 0,
            end: 0,
        }
    }

    pub fn first(&self) -> u64 {
        self.first
    }

    pub fn end(&self) -> u64 {
        self.end
    }

    /// Bytes that are not acknowledged.
    pub fn length(&self) -> u64 {
        self.end - self.first
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.pieces.push_back(Piece {
            position: self.end,
            bytes: bytes.into(),
        });
        self.end += bytes.len() as u64;
    }

    /// Forgets what stands before `position`. False if no piece begins there, or it was forgotten before.
    #[must_use]
    pub fn acknowledge(&mut self, position: u64) -> bool {
        if position != self.end && self.index_of(position).is_none() {
            return false;
        }
        while self.pieces.front().is_some_and(|piece| piece.position < position) {
            self.pieces.pop_front();
        }
        self.first = position;
        true
    }

    /// The piece that begins at `position`, if there is one yet.
    pub fn piece_at(&self, position: u64) -> Option<Arc<[u8]>> {
        self.index_of(position)
            .map(|index| Arc::clone(&self.pieces[index].bytes))
    }

    fn index_of(&self, position: u64) -> Option<usize> {
        self.pieces
            .binary_search_by_key(&position, |piece| piece.position)
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_pieces_are_forgotten() {
        let mut window = Window::new();
        for bytes in [&b"head"[..], b"one", b"two"] {
            window.push(bytes);
        }
        assert_eq!((window.first(), window.end(), window.length()), (0, 10, 10));
        assert!(window.acknowledge(0));
        assert!(!window.acknowledge(5), "no piece begins there");
        assert!(!window.acknowledge(11), "behind the end");
        assert!(window.acknowledge(7));
        assert!(!window.acknowledge(4), "forgotten");
        assert_eq!(window.piece_at(7).as_deref(), Some(&b"two"[..]));
        assert!(window.piece_at(4).is_none() && window.piece_at(10).is_none());
        assert!(window.acknowledge(10));
        assert_eq!((window.first(), window.length()), (10, 0));
        assert!(window.acknowledge(10));
    }
}
