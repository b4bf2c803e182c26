//! The front of a segment: what a record does in few instructions, and with one branch that depends on the record.
//!
//! A mispredicted branch costs as much as a dozen accesses. So the front has a fixed shape: roots, a value that
//! addresses have in common, accesses, a mark, and settings. Its class says roughly how much of that is there. What a
//! segment lacks goes to a register that is never read, or past the end of what counts. What it has in excess goes to
//! further fronts, or to steps. Everything after the roots is expressed by the registers' values right after the roots.

use super::value::Value;
use super::{Linear, SCRATCH_REGISTER, TEMPORARY_REGISTER, ZERO_REGISTER};
use crate::table::Encoding;
use crate::{Mark, SiteId};

/// Roots of a front.
pub(crate) const FRONT_ROOTS: usize = 2;
/// Accesses of a front.
pub(crate) const FRONT_ACCESSES: usize = 4;
/// Settings of a front.
pub(crate) const FRONT_SETS: usize = 2;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Front {
    /// See [`front_class`].
    pub(crate) class: u32,
    /// The first accesses count.
    pub(crate) access_count: u32,
    /// 0 or 1. After the accesses' count, so that both are read as one word.
    pub(crate) mark_count: u32,
    /// The mark as it is if no access precedes the record.
    pub(crate) mark: Mark,
    pub(crate) roots: [FrontRoot; FRONT_ROOTS],
    /// What the temporary register is set to.
    pub(crate) temporary: Linear,
    /// Settings, all made at once, after the accesses.
    pub(crate) sets: [FrontSet; FRONT_SETS],
    /// Each address is a register plus a constant.
    pub(crate) constants: [u64; FRONT_ACCESSES],
    pub(crate) registers: [u32; FRONT_ACCESSES],
    pub(crate) sites: [SiteId; FRONT_ACCESSES],
    pub(crate) sizes: [u32; FRONT_ACCESSES],
}

/// Class of an id that is no segment.
pub(crate) const NO_CLASS: u8 = 0;
/// Class of a byte with which ids of two bytes begin.
pub(crate) const PREFIX_CLASS: u8 = u8::MAX;

/// Class by the number of roots; by the settings: none, one, or all and the value in common; and by the accesses: at
/// most one, or all.
pub(crate) const fn front_class(roots: usize, settings: usize, all_accesses: bool) -> u32 {
    1 + roots as u32 + 3 * settings as u32 + 9 * all_accesses as u32
}

/// The root is the eight bytes from a place on, masked and sign-extended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrontRoot {
    pub(crate) mask: u64,
    /// The sign's bit if there is one, else 0.
    pub(crate) sign: u64,
    /// Bytes from the end of the record back to the root.
    pub(crate) from_end: u32,
    pub(crate) register: u32,
}

/// register = source + constant
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrontSet {
    pub(crate) constant: u64,
    pub(crate) register: u32,
    pub(crate) source: u32,
}

impl Front {
    pub(crate) const EMPTY: Front = Front {
        class: front_class(0, 0, false),
        access_count: 0,
        mark_count: 0,
        mark: Mark::NONE,
        roots: [FrontRoot {
            mask: 0,
            sign: 0,
            from_end: 0,
            register: SCRATCH_REGISTER,
        }; FRONT_ROOTS],
        temporary: Linear::ZERO,
        sets: [FrontSet {
            constant: 0,
            register: SCRATCH_REGISTER,
            source: ZERO_REGISTER,
        }; FRONT_SETS],
        constants: [0; FRONT_ACCESSES],
        registers: [ZERO_REGISTER; FRONT_ACCESSES],
        sites: [SiteId(0); FRONT_ACCESSES],
        sizes: [0; FRONT_ACCESSES],
    };
}

/// Fills a front with successive operations of a segment, as far as they fit.
pub(super) struct FrontBuilder {
    front: Front,
    record_length: u32,
    /// Whether anything was taken.
    used: bool,
    root_count: usize,
    set_count: usize,
    has_temporary: bool,
}

impl FrontBuilder {
    /// Makes a front for a segment with so many bytes of roots.
    pub(super) fn new(record_length: u32) -> Self {
        FrontBuilder {
            front: Front::EMPTY,
            record_length,
            used: false,
            root_count: 0,
            set_count: 0,
            has_temporary: false,
        }
    }

    pub(super) fn is_used(&self) -> bool {
        self.used
    }

    pub(super) fn finish(mut self) -> Front {
        let settings = match (self.has_temporary, self.set_count) {
            (false, count @ 0..=1) => count,
            _ => 2,
        };
        self.front.class = front_class(self.root_count, settings, self.front.access_count > 1);
        self.front
    }

    /// Takes a root whose register none of the front's operations has touched; false if there is no place.
    pub(super) fn root(&mut self, register: u32, encoding: Encoding, offset: u32) -> bool {
        let Some(root) = self.front.roots.get_mut(self.root_count) else {
            return false;
        };
        let bits = u32::from(encoding.width) * 8;
        *root = FrontRoot {
            mask: u64::MAX >> (64 - bits),
            sign: if encoding.signed { 1 << (bits - 1) } else { 0 },
            from_end: self.record_length - offset,
            register,
        };
        self.root_count += 1;
        self.used = true;
        true
    }

    /// Takes `register = value`; false if it does not fit.
    pub(super) fn set(&mut self, register: u32, value: &Value) -> bool {
        let taken = self.try_set(register, value);
        self.used |= taken;
        taken
    }

    /// Takes an access; false if it does not fit.
    pub(super) fn access(&mut self, site: SiteId, size: u32, address: &Value) -> bool {
        let taken = self.try_access(site, size, address);
        self.used |= taken;
        taken
    }

    /// Takes an event, `mark` being it with no access before it; false if there is no place.
    pub(super) fn mark(&mut self, mark: Mark) -> bool {
        if self.front.mark_count > 0 {
            return false;
        }
        self.front.mark = mark.moved(self.front.access_count);
        self.front.mark_count = 1;
        self.used = true;
        true
    }

    fn try_set(&mut self, register: u32, value: &Value) -> bool {
        let sets = &self.front.sets[..self.set_count];
        let position = sets.iter().position(|set| set.register == register);
        let position = position.unwrap_or(self.set_count);
        if position == FRONT_SETS {
            return false;
        }
        let Some((source, constant)) = self.place(value) else {
            return false;
        };
        self.front.sets[position] = FrontSet {
            constant,
            register,
            source,
        };
        self.set_count = self.set_count.max(position + 1);
        true
    }

    fn try_access(&mut self, site: SiteId, size: u32, address: &Value) -> bool {
        let index = self.front.access_count as usize;
        if index == FRONT_ACCESSES {
            return false;
        }
        let Some((register, constant)) = self.place(address) else {
            return false;
        };
        self.front.registers[index] = register;
        self.front.constants[index] = constant;
        self.front.sites[index] = site;
        self.front.sizes[index] = size;
        self.front.access_count += 1;
        true
    }

    /// A value as a register plus a constant. What has more terms goes to the temporary register first.
    fn place(&mut self, value: &Value) -> Option<(u32, u64)> {
        let linear = self.before_sets(value.linear()?);
        if let Some(near) = linear.near() {
            return Some((near.register, near.constant));
        }
        if !self.has_temporary {
            self.front.temporary = Linear {
                constant: 0,
                ..linear
            };
            self.has_temporary = true;
        }
        let temporary = &self.front.temporary;
        let same = temporary.scales == linear.scales && temporary.registers == linear.registers;
        same.then_some((TEMPORARY_REGISTER, linear.constant))
    }

    /// The same value, expressed by the registers as they are before the settings.
    fn before_sets(&self, mut linear: Linear) -> Linear {
        for (register, scale) in linear.registers.iter_mut().zip(linear.scales) {
            let sets = &self.front.sets[..self.set_count];
            if let Some(set) = sets.iter().find(|set| set.register == *register) {
                let moved = set.constant.wrapping_mul(i64::from(scale) as u64);
                linear.constant = linear.constant.wrapping_add(moved);
                *register = set.source;
            }
        }
        linear
    }
}
