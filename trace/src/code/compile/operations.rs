//! Compiles one operation: to a part of a front where it fits, or else to a step.

use super::{Compiler, Context};
use crate::code::value::Value;
use crate::code::{AffineLoop, EventCode, LaneAddresses, Masked, Step, ValueCode};
use crate::table::{AllocatedBlock, Expression, Operation};
use crate::{Mark, SiteId, ValueShape};

impl Compiler<'_> {
    /// One match over all operations: an arm says what its operation becomes, and leaves the rest to a function.
    pub(super) fn operation(&mut self, context: Context<'_>, operation: &Operation) {
        match operation {
            Operation::Root { .. } => {}
            Operation::Set {
                register: number,
                value,
            } => {
                let value = self.value(context, value);
                self.set(context.register(*number), value);
            }
            Operation::Access { site, address } => {
                let value = self.value(context, address);
                self.is_masked = false;
                self.access(context.table.site(*site), value);
            }
            Operation::Block {
                site,
                address,
                length,
            } => {
                let address = self.wide(context, address);
                let length = self.wide(context, length);
                self.accesses += 1;
                let site = context.table.site(*site);
                self.step(Step::Block {
                    site,
                    address,
                    length,
                    by_library: self.program.sites[site.index()].kind.is_by_library(),
                });
            }
            Operation::Masked {
                site,
                address,
                mask,
                lanes,
                packed,
                stride,
            } => {
                let base = self.wide(context, address);
                let addresses = LaneAddresses::Strided {
                    base,
                    stride: *stride,
                    packed: *packed,
                };
                self.masked(
                    context.table.site(*site),
                    context.register(*mask),
                    *lanes,
                    addresses,
                );
            }
            Operation::Gather {
                site,
                mask,
                lanes,
                first_register,
            } => {
                for lane in 0..u32::from(*lanes) {
                    self.touch(context.register(first_register + lane));
                }
                let addresses = LaneAddresses::Gathered {
                    first_register: context.register(*first_register),
                };
                self.masked(
                    context.table.site(*site),
                    context.register(*mask),
                    *lanes,
                    addresses,
                );
            }
            Operation::Allocate { .. } | Operation::Free { .. } | Operation::Reallocate { .. } => {
                let event = self.allocation(context, operation);
                self.event(event);
            }
            Operation::Order {
                synchronisation,
                location,
                address,
                stamp,
            } => {
                let event = EventCode::Order {
                    synchronisation: *synchronisation,
                    location: context.table.location(*location),
                    address: self.wide(context, address),
                    stamp: self.wide(context, stamp),
                };
                self.event(event);
            }
            Operation::Region { depth, name } => {
                let event = EventCode::Region {
                    depth: self.wide(context, depth),
                    name: self.wide(context, name),
                };
                self.event(event);
            }
            Operation::Enter => self.event(EventCode::Enter(context.function)),
            Operation::Exit => self.event(EventCode::Exit(context.function)),
            Operation::Value { shape, words } => self.recorded_value(context, *shape, words),
            Operation::Loop { count, body } => self.repetition(context, count, body),
        }
    }

    fn repetition(&mut self, context: Context<'_>, count: &Expression, body: &[Operation]) {
        self.in_steps = true;
        let count = self.wide(context, count);
        if let Some(affine) = self.affine_loop(context, body) {
            let number = self.code.affine.len() as u32;
            self.accesses += affine.lanes.len();
            self.code.affine.push(AffineLoop { count, ..affine });
            self.step(Step::Affine { number });
            return;
        }
        self.step(Step::Loop { count, end: 0 });
        let head = self.code.steps.len() - 1;
        body.iter()
            .for_each(|operation| self.operation(context, operation));
        self.end_run();
        let end = self.code.steps.len() as u32;
        self.code.steps[head] = Step::Loop { count, end };
    }

    fn allocation(&mut self, context: Context<'_>, operation: &Operation) -> EventCode {
        let site = |site: &u32| context.table.allocation_site(*site);
        match operation {
            Operation::Allocate { site: number, block } => {
                let [address, element_size, count] = self.block(context, block);
                EventCode::Allocate {
                    site: site(number),
                    address,
                    element_size,
                    count,
                }
            }
            Operation::Reallocate {
                site: number,
                old,
                block,
            } => {
                let old = self.wide(context, old);
                let [new, element_size, count] = self.block(context, block);
                EventCode::Reallocate {
                    site: site(number),
                    old,
                    new,
                    element_size,
                    count,
                }
            }
            Operation::Free {
                site: number,
                address,
            } => EventCode::Free {
                site: site(number),
                address: self.wide(context, address),
            },
            _ => EventCode::Enter(context.function),
        }
    }

    fn block(&mut self, context: Context<'_>, block: &AllocatedBlock) -> [u32; 3] {
        [&block.address, &block.element_size, &block.count].map(|expression| self.wide(context, expression))
    }

    fn event(&mut self, event: EventCode) {
        let mark = match event {
            EventCode::Enter(function) => Some(Mark::enter(0, function)),
            EventCode::Exit(function) => Some(Mark::exit(0, function)),
            _ => None,
        };
        if mark.is_some_and(|mark| self.fits_front(|compiler| compiler.front.mark(mark))) {
            return;
        }
        let number = self.code.events.len() as u32;
        self.code.events.push(event);
        self.step(Step::Event { event: number });
    }

    fn masked(&mut self, site: SiteId, mask: u32, lanes: u8, addresses: LaneAddresses) {
        self.touch(mask);
        self.is_masked = true;
        self.accesses += usize::from(lanes);
        let access = self.code.masked.len() as u32;
        let size = self.program.site(site).size;
        self.code.masked.push(Masked {
            site,
            size,
            mask,
            lanes: u64::MAX >> (64 - lanes),
            addresses,
        });
        self.step(Step::Masked { access });
    }

    fn recorded_value(&mut self, context: Context<'_>, shape: ValueShape, words: &[Expression]) {
        let first_word = self.code.wide.len() as u32;
        for word in words {
            self.wide(context, word);
        }
        let number = self.code.values.len() as u32;
        self.code.values.push(ValueCode {
            shape,
            first_word,
            masked: self.is_masked,
        });
        self.step(Step::Value { value: number });
    }

    fn set(&mut self, register: u32, value: Value) {
        self.touch(register);
        let taken = self.fits_front(|compiler| {
            compiler.touch_all(&value);
            compiler.touch(register);
            compiler.front.set(register, &value)
        });
        if taken {
            return;
        }
        match value.linear() {
            Some(linear) => {
                let value = self.code.linear.len() as u32;
                self.code.linear.push(linear);
                self.step(Step::SetLinear { register, value });
            }
            None => {
                let value = self.push_wide(value);
                self.step(Step::SetWide { register, value });
            }
        }
    }

    fn access(&mut self, site: SiteId, value: Value) {
        self.accesses += 1;
        let size = self.program.site(site).size;
        let taken = self.fits_front(|compiler| {
            compiler.touch_all(&value);
            compiler.front.access(site, size, &value)
        });
        if taken {
            return;
        }
        match value.linear() {
            Some(linear) => self.run.push(linear),
            None => {
                let value = self.push_wide(value);
                let first_site = self.code.sites.len() as u32;
                self.step(Step::Wide { value, first_site });
            }
        }
        self.code.sites.push(site);
        self.code.sizes.push(size);
    }
}
