//! Goes from record to record through columns: split records are decoded without being joined to bytes first.
//!
//! Records whose roots all go to fronts, most of them, take their roots straight from the columns. Others are written
//! to their place in the payload, and run from there as if they had been stored so.

use crate::code::{entry_class, entry_locals, entry_segment, Code, FrontRoot, SegmentCode, Step, NO_CLASS};
use crate::columns::{ColumnCursor, ColumnState, Root};

use super::machine::Machine;
use super::walk::{Counts, FrontOutcome, InRecord, Place, RecordPlace, Roots, Stop};

/// What a form of the columns leads to: the head of the entry of its id, whose class is that of no segment if
/// the record must be written.
type Head = u32;

/// The columns of the chunk that is being decoded.
pub(super) struct JoinedRecords {
    state: ColumnState,
    /// Heads by the number of the form.
    heads: Vec<Head>,
    /// Bytes of the records.
    end: usize,
}

impl JoinedRecords {
    pub(super) fn new(state: ColumnState, code: &Code) -> Self {
        let mut heads: Vec<Head> = state.ids().iter().map(|id| head(code, *id)).collect();
        // The start of a chunk is no record's form.
        heads[0] = 0;
        JoinedRecords { state, heads, end: 0 }
    }

    /// Bytes of the records.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    pub(super) fn into_joiner(self) -> ColumnState {
        self.state
    }

    /// Gets ready for a payload of `length` bytes; see [`ColumnState::open`].
    pub(super) fn open(
        &mut self,
        stored: &[u8],
        length: usize,
        padding: usize,
        payload: &mut Vec<u8>,
    ) -> Result<(), String> {
        self.end = self.state.open(stored, length, padding, payload)?;
        Ok(())
    }
}

fn head(code: &Code, id: u32) -> Head {
    let Some(entry) = code.entries.get(id as usize).filter(|_| id < code.id_count) else {
        return 0;
    };
    let segment = &code.segments[entry_segment(entry) as usize];
    let steps = &code.steps[segment.first_step as usize..][..segment.step_count as usize];
    let class = match steps.iter().any(|step| matches!(step, Step::Roots { .. })) {
        true => NO_CLASS,
        false => entry_class(entry),
    };
    u32::from(class) << 24 | entry_segment(entry)
}

/// Takes the roots of a record from their columns.
struct InColumns<'a, 'j> {
    cursor: &'a mut ColumnCursor<'j>,
    next: *mut Root,
}

impl Roots for InColumns<'_, '_> {
    #[inline(always)]
    unsafe fn next(&mut self, _: &FrontRoot) -> u64 {
        // SAFETY: the caller's duty.
        unsafe {
            let value = self.cursor.root(self.next);
            self.next = self.next.add(1);
            value
        }
    }

    #[inline(always)]
    fn are_valid(&self) -> bool {
        !self.cursor.is_invalid()
    }
}

impl Machine<'_> {
    /// Runs the records that were split.
    #[inline]
    pub(super) fn walk_joined(&mut self, place: &mut Place, records: &mut JoinedRecords) -> Stop {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has what the function needs.
            return unsafe { self.walk_joined_with_avx2(place, records) };
        }
        self.walk_joined_with_anything(place, records)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn walk_joined_with_avx2(&mut self, place: &mut Place, records: &mut JoinedRecords) -> Stop {
        self.walk_joined_with_anything(place, records)
    }

    /// One loop in one function: what it carries from record to record must stay in registers.
    #[inline(always)]
    fn walk_joined_with_anything(&mut self, place: &mut Place, records: &mut JoinedRecords) -> Stop {
        let code = self.code;
        let end = records.end;
        let heads = records.heads.as_slice();
        let mut cursor = records.state.resume();
        let mut columns = self.columns();
        let mut counts = Counts::new(self.accesses(), self.marks());
        let mut position = place.position;
        // Counts before the latest record.
        let mut last = Counts::new(place.last_start, self.marks());
        let stop = loop {
            if position >= end {
                break Stop::Joined;
            }
            if counts.is_full() {
                break Stop::Full;
            }
            // SAFETY: the latest record was valid, and all its roots were read.
            let Some(form) = (unsafe { cursor.next_form() }) else {
                break Stop::Unclear;
            };
            // SAFETY: forms live as long as the cursor; there is a head for each, and heads lead to segments that exist.
            let (form, head, segment): (_, _, &SegmentCode) = unsafe {
                let entry = [u64::from(*heads.get_unchecked(cursor.number(form))), 0];
                (
                    &*form,
                    entry,
                    code.segments.get_unchecked(entry_segment(&entry) as usize),
                )
            };
            let before = counts;
            let (accesses, marks) = (counts.accesses(), counts.marks());
            let record = RecordPlace {
                start: position,
                end: position + usize::from(form.length),
            };
            let number = entry_segment(&head);
            let mut roots = InColumns {
                next: cursor.roots_of(form),
                cursor: &mut cursor,
            };
            // SAFETY: the batch is not full. The fronts take all roots of the record if it has a class.
            match unsafe { columns.run(entry_class(&head), &segment.front, &mut roots, accesses, marks) } {
                FrontOutcome::Done => {
                    counts.add(&segment.front);
                    if segment.goes_on {
                        if record.end > end {
                            counts = before;
                            break Stop::Unclear;
                        }
                        // SAFETY: the front has written what counts.
                        match unsafe { self.go_on(number, record, &mut roots, &mut counts) } {
                            None => columns = self.columns(),
                            Some(Stop::Unclear) => {
                                counts = before;
                                break Stop::Unclear;
                            }
                            Some(stop) => {
                                (position, last) = (record.end, before);
                                break stop;
                            }
                        }
                    }
                }
                FrontOutcome::Invalid => break Stop::Unclear,
                FrontOutcome::Not => {
                    let at = self.payload_mut()[position..].as_mut_ptr();
                    // SAFETY: the payload goes on for more bytes than any record has.
                    if !unsafe { cursor.write(form, at, end - position) } {
                        break Stop::Unclear;
                    }
                    // SAFETY: 8 bytes after the record are readable, and the roots are the record's.
                    let stop = unsafe {
                        let mut roots = InRecord(at.cast_const().add(usize::from(form.length)));
                        let front = &segment.front;
                        columns.run(front.class as u8, front, &mut roots, accesses, marks);
                        counts.add(front);
                        self.go_on(number, record, &mut roots, &mut counts)
                    };
                    if let Some(stop) = stop {
                        (position, last) = (record.end, before);
                        break stop;
                    }
                    columns = self.columns();
                }
            }
            (position, last) = (record.end, before);
        };
        cursor.suspend();
        if position > end {
            counts = last;
        }
        // SAFETY: the fronts have written them.
        unsafe { self.set_lengths(counts.accesses(), counts.marks()) };
        let stop = match stop {
            Stop::Joined => joined(records, position),
            Stop::Unclear => Stop::Damaged(records.state.problem(end - position)),
            other => other,
        };
        let latest = code.entries.get(records.state.latest_id() as usize);
        *place = Place {
            position,
            locals: latest.map_or(place.locals, entry_locals),
            last_start: last.accesses(),
        };
        stop
    }
}

/// The stop after the last record.
#[cold]
fn joined(records: &JoinedRecords, position: usize) -> Stop {
    if position > records.end {
        return Stop::Damaged("a record is longer than what is left");
    }
    match records.state.finish() {
        Ok(()) => Stop::Joined,
        Err(what) => Stop::Damaged(what),
    }
}
