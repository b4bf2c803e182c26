//! The calls that a thread had not returned from, and where each accessed the stack last.

use trackway_trace::{FunctionId, SiteId};

/// An access by way of a local variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    pub site: SiteId,
    pub address: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    pub function: FunctionId,
    /// The latest one; none if there was none.
    pub spot: Option<Spot>,
}

/// Open calls, from the outermost known one to the innermost one. A function that was called before the first record
/// that was read is unknown until it accesses something.
#[derive(Debug, Default)]
pub struct OpenCalls {
    calls: Vec<Call>,
    /// How often each function is open.
    active: Vec<u32>,
}

impl OpenCalls {
    pub fn as_slice(&self) -> &[Call] {
        &self.calls
    }

    /// The function that is open most often.
    pub fn most_open(&self) -> Option<FunctionId> {
        let functions = (0..).zip(&self.active).filter(|(_, count)| **count > 0);
        let most = functions.max_by_key(|(_, count)| **count);
        most.map(|(function, _)| FunctionId(function))
    }

    /// What the innermost call of that function accessed last of the stack.
    pub fn latest_site_of_most_open(&self) -> Option<SiteId> {
        let function = self.most_open()?;
        let mut inner = self.calls.iter().rev();
        let call = inner.find(|call| call.function == function && call.spot.is_some())?;
        call.spot.map(|spot| spot.site)
    }

    pub fn enter(&mut self, function: FunctionId) {
        if self.active.len() <= function.index() {
            self.active.resize(function.index() + 1, 0);
        }
        self.active[function.index()] += 1;
        self.calls.push(Call { function, spot: None });
    }

    /// If the function was called before the records that were read, no call since then is open any more.
    pub fn exit(&mut self, function: FunctionId) {
        self.leave_to(function);
        self.pop();
    }

    /// An access by a function whose entries are recorded: what it called has returned, or was left.
    #[inline]
    pub fn access(&mut self, function: FunctionId, spot: Option<Spot>) {
        if self.calls.last().map(|call| call.function) != Some(function) {
            self.leave_to(function);
            if self.calls.is_empty() {
                self.enter(function);
            }
        }
        self.note(spot);
    }

    /// An access by a function whose entries aren't recorded, which counts as one by its caller.
    pub fn access_within(&mut self, function: FunctionId, spot: Option<Spot>) {
        if self.calls.is_empty() {
            self.enter(function);
        }
        self.note(spot);
    }

    #[inline]
    fn note(&mut self, spot: Option<Spot>) {
        if let (Some(call), Some(_)) = (self.calls.last_mut(), spot) {
            call.spot = spot;
        }
    }

    fn leave_to(&mut self, function: FunctionId) {
        while self.calls.last().is_some_and(|call| call.function != function) {
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some(call) = self.calls.pop() {
            self.active[call.function.index()] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: FunctionId = FunctionId(0);
    const OUTER: FunctionId = FunctionId(1);
    const LEAF: FunctionId = FunctionId(2);

    fn spot(address: u64) -> Option<Spot> {
        Some(Spot {
            site: SiteId(address as u32),
            address,
        })
    }

    fn open(calls: &OpenCalls) -> Vec<(u32, Option<u64>)> {
        let calls = calls.as_slice().iter();
        calls
            .map(|call| (call.function.0, call.spot.map(|spot| spot.address)))
            .collect()
    }

    #[test]
    fn exits_and_accesses_close_what_was_called() {
        let mut calls = OpenCalls::default();
        calls.enter(MAIN);
        calls.access(MAIN, spot(900));
        calls.enter(OUTER);
        calls.access(OUTER, spot(800));
        calls.access(OUTER, None);
        calls.enter(OUTER);
        calls.enter(LEAF);
        assert_eq!(
            open(&calls),
            [(0, Some(900)), (1, Some(800)), (1, None), (2, None)]
        );
        assert_eq!(calls.most_open(), Some(OUTER));
        assert_eq!(calls.latest_site_of_most_open(), Some(SiteId(800)));
        calls.exit(LEAF);
        calls.exit(OUTER);
        assert_eq!(open(&calls), [(0, Some(900)), (1, Some(800))]);
        // Left by longjmp.
        calls.access(MAIN, spot(890));
        assert_eq!(open(&calls), [(0, Some(890))]);
        assert_eq!(calls.most_open(), Some(MAIN));
    }

    #[test]
    fn what_was_called_earlier_shows_by_its_accesses() {
        let mut calls = OpenCalls::default();
        calls.enter(LEAF);
        calls.exit(LEAF);
        calls.exit(OUTER);
        assert_eq!(open(&calls), []);
        calls.enter(LEAF);
        calls.access(MAIN, spot(900));
        assert_eq!(open(&calls), [(0, Some(900))]);
    }

    #[test]
    fn without_entries_the_caller_is_on_the_stack() {
        let mut calls = OpenCalls::default();
        calls.access_within(LEAF, spot(900));
        calls.enter(OUTER);
        calls.access_within(LEAF, spot(700));
        assert_eq!(open(&calls), [(2, Some(900)), (1, Some(700))]);
    }
}
