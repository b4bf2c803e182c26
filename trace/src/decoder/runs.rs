//! Affine loops: what their iterations have in common, as runs or to be written out.

use std::ops::Range;

use crate::code::{AffineLoop, Code, FormPlus, LaneCode, SegmentCode, Step};
use crate::table::MAX_ITERATIONS;
use crate::Lane;

use super::machine::Machine;

/// Loops that run less often don't become runs even where runs are wanted: a run would cost more than their accesses.
const SHORTEST_RUN: u64 = 4;

impl Machine<'_> {
    /// Runs the steps of a record with loops as far as its loops become runs. Returns the steps that are left.
    pub(super) fn steps_with_runs(
        &mut self,
        segment: &SegmentCode,
        record_end: usize,
        start: usize,
    ) -> Range<u32> {
        let code = self.code;
        self.latest_loops = (record_end, self.batch.runs.len());
        let steps = segment.first_step..segment.first_step + segment.step_count;
        for number in steps.clone() {
            match code.steps[number as usize] {
                Step::Affine { number: affine } => {
                    let affine = &code.affine[affine as usize];
                    let count = self.wide_value(affine.count);
                    if !self.becomes_run(affine, count) {
                        return number..steps.end;
                    }
                    self.push_affine(affine, count);
                }
                Step::Loop { .. } => return number..steps.end,
                other => self.step(other, start),
            }
        }
        steps.end..steps.end
    }

    /// Whether a loop of so many iterations is to be a run.
    pub(super) fn becomes_run(&self, affine: &AffineLoop, count: u64) -> bool {
        self.keeps_runs() && (SHORTEST_RUN..=MAX_ITERATIONS).contains(&count) && !affine.lanes.is_empty()
    }

    /// Adds the loop to the batch as a run.
    pub(super) fn push_affine(&mut self, affine: &AffineLoop, count: u64) {
        let forms = self.take_forms(affine);
        let lanes = lanes_of(self.code, affine).iter();
        let lanes = lanes.map(|lane| lane_now(&forms, lane));
        self.batch.push_run(self.accesses() as u32, lanes, count);
        self.set_results(affine, count, forms);
    }

    /// Replaces the content of `lanes` by the loop's lanes, which are to be written out, and completes the loop.
    pub(super) fn write_affine(&mut self, affine: &AffineLoop, count: u64, lanes: &mut Vec<Lane>) {
        let forms = self.take_forms(affine);
        let of_loop = lanes_of(self.code, affine).iter();
        lanes.clear();
        lanes.extend(of_loop.map(|lane| lane_now(&forms, lane)));
        self.set_results(affine, count, forms);
    }

    /// The values of the loop's forms, in memory to be used again.
    fn take_forms(&mut self, affine: &AffineLoop) -> Vec<u64> {
        let mut forms = std::mem::take(&mut self.forms);
        forms.clear();
        forms.extend(affine.forms.clone().map(|form| self.wide_value(form)));
        forms
    }

    /// Sets the registers as they are after the loop.
    fn set_results(&mut self, affine: &AffineLoop, count: u64, forms: Vec<u64>) {
        let code = self.code;
        for result in &code.results[affine.results.start as usize..affine.results.end as usize] {
            let steps = count - u64::from(result.of_last_iteration);
            let moved = now(&forms, result.step).wrapping_mul(steps);
            self.set(result.register, now(&forms, result.value).wrapping_add(moved));
        }
        self.forms = forms;
    }
}

fn lanes_of<'a>(code: &'a Code, affine: &AffineLoop) -> &'a [LaneCode] {
    &code.lanes[affine.lanes.start as usize..affine.lanes.end as usize]
}

/// The lane as it is if the loop begins now.
#[inline(always)]
fn lane_now(forms: &[u64], lane: &LaneCode) -> Lane {
    Lane {
        site: lane.site,
        size: lane.size,
        address: now(forms, lane.address),
        stride: now(forms, lane.stride),
    }
}

#[inline(always)]
fn now(forms: &[u64], value: FormPlus) -> u64 {
    forms[value.form as usize].wrapping_add(value.constant)
}
