//! Steps that few records have: they are interpreted, one call each.

use super::Machine;
use crate::code::{EventCode, LaneAddresses, Masked, Step, ValueCode};
use crate::value::copy_bits;
use crate::{Event, LongBlock, Mark, SiteId};

impl Machine<'_> {
    #[inline(never)]
    pub(super) fn rare_step(&mut self, step: Step) {
        match step {
            Step::Wide { value, first_site } => {
                let address = self.wide_value(value);
                let first_site = first_site as usize;
                self.push(self.code.sites[first_site], address, self.code.sizes[first_site]);
            }
            Step::SetWide { register, value } => {
                let value = self.wide_value(value);
                self.set(register, value);
            }
            Step::Block {
                site,
                address,
                length,
                by_library,
            } => self.block(site, address, length, by_library),
            Step::Masked { access } => self.masked(self.code.masked[access as usize]),
            Step::Value { value } => self.value(self.code.values[value as usize]),
            Step::Event { event } => self.event(self.code.events[event as usize]),
            // `step` knows the others, and records with loops don't run straight on.
            Step::Near { .. }
            | Step::Linear { .. }
            | Step::SetLinear { .. }
            | Step::Roots { .. }
            | Step::Loop { .. }
            | Step::Affine { .. } => {}
        }
    }

    fn push(&mut self, site: SiteId, address: u64, size: u32) {
        // SAFETY: there is room for all accesses of a record when it begins.
        unsafe {
            *self.sites.add(self.accesses) = site;
            *self.addresses.add(self.accesses) = address;
            *self.sizes.add(self.accesses) = size;
        }
        self.accesses += 1;
    }

    fn block(&mut self, site: SiteId, address: u32, length: u32, by_library: bool) {
        let length = self.wide_value(length);
        if length == 0 {
            return;
        }
        let size = u32::try_from(length).unwrap_or(u32::MAX);
        if size == u32::MAX {
            self.batch.long_blocks.push(LongBlock {
                index: self.accesses as u32,
                length,
            });
        }
        if by_library {
            self.batch.by_library.push(self.accesses as u32);
        }
        let address = self.wide_value(address);
        self.push(site, address, size);
    }

    fn masked(&mut self, masked: Masked) {
        let mut rest = self.register(masked.mask) & masked.lanes;
        self.last_mask = rest;
        let mut number = 0;
        while rest != 0 {
            let lane = rest.trailing_zeros();
            let address = match masked.addresses {
                LaneAddresses::Strided { base, stride, packed } => {
                    let step = if packed { number } else { u64::from(lane) };
                    self.wide_value(base).wrapping_add(step.wrapping_mul(stride))
                }
                LaneAddresses::Gathered { first_register } => self.register(first_register + lane),
            };
            self.push(masked.site, address, masked.size);
            rest &= rest - 1;
            number += 1;
        }
    }

    fn value(&mut self, code: ValueCode) {
        if !code.masked {
            return self.push_value(self.accesses - 1, &code, 0, code.shape.total_bits());
        }
        let mut index = self.accesses - self.last_mask.count_ones() as usize;
        let mut rest = self.last_mask;
        while rest != 0 {
            let lane = rest.trailing_zeros();
            self.push_value(index, &code, lane * code.shape.bits, code.shape.bits);
            index += 1;
            rest &= rest - 1;
        }
    }

    /// Appends the value of access `index`: these bits of all lanes' values.
    fn push_value(&mut self, index: usize, code: &ValueCode, first_bit: u32, bits: u32) {
        let shape = match code.masked {
            true => code.shape.element(),
            false => code.shape,
        };
        let mut words = self.batch.begin_value(index as u32, shape);
        let word = |number: usize| self.wide_value(code.first_word + number as u32);
        copy_bits(word, first_bit, bits, &mut words);
        self.batch.end_value(words);
    }

    fn event(&mut self, event: EventCode) {
        let value = |index| self.wide_value(index);
        let before = self.accesses as u32;
        let event = match event {
            EventCode::Allocate {
                site,
                address,
                element_size,
                count,
            } => Event::Allocate {
                site,
                address: value(address),
                element_size: value(element_size),
                count: value(count),
            },
            EventCode::Free { site, address } => Event::Free {
                site,
                address: value(address),
            },
            EventCode::Reallocate {
                site,
                old,
                new,
                element_size,
                count,
            } => Event::Reallocate {
                site,
                old_address: value(old),
                new_address: value(new),
                element_size: value(element_size),
                count: value(count),
            },
            EventCode::Order {
                synchronisation,
                location,
                address,
                stamp,
            } => Event::Order {
                synchronisation,
                location,
                address: value(address),
                time_ns: self.code.clock.ns(value(stamp)),
            },
            EventCode::Region { depth, name } => Event::Region {
                depth: value(depth),
                name: value(name),
            },
            EventCode::Enter(function) => return self.push_mark(Mark::enter(before, function)),
            EventCode::Exit(function) => return self.push_mark(Mark::exit(before, function)),
        };
        let mark = self.batch.push_event(before, event);
        self.push_mark(mark);
    }

    /// The marks may move to another place in memory.
    fn push_mark(&mut self, mark: Mark) {
        self.batch.marks.push(mark);
        self.marks = self.batch.marks.as_mut_ptr();
    }
}
