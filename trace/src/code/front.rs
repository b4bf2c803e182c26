//! The front of a segment: what every record does in the same few instructions, whatever its segment.
//!
//! Branches that depend on the record are mispredicted, and each costs as much as a dozen accesses. So all segments
//! have a front of one shape: two roots, one setting, four accesses and a mark, in this order. What a segment has not
//! goes to a register that nobody reads, or behind the end of what counts; what it has more is left to steps.

use super::compile::Value;
use super::{Linear, SCRATCH_REGISTER, TEMPORARY_REGISTER, ZERO_REGISTER};
use crate::table::Encoding;
use crate::{Mark, SiteId};

/// Roots of a front.
pub(crate) const FRONT_ROOTS: usize = 2;
/// Accesses of a front.
pub(crate) const FRONT_ACCESSES: usize = 4;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Front {
    pub(crate) roots: [FrontRoot; FRONT_ROOTS],
    /// Which register is set, and to what, after the roots.
    pub(crate) set: Linear,
    pub(crate) set_register: u32,
    /// The first ones count.
    pub(crate) access_count: u32,
    /// Each address is a register plus a constant.
    pub(crate) constants: [u64; FRONT_ACCESSES],
    pub(crate) registers: [u32; FRONT_ACCESSES],
    pub(crate) sites: [SiteId; FRONT_ACCESSES],
    pub(crate) sizes: [u32; FRONT_ACCESSES],
    /// As it stands if no access is before the record.
    pub(crate) mark: Mark,
    /// 0 or 1.
    pub(crate) mark_count: u32,
}

/// The root is the eight bytes from `offset`, masked and sign-extended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrontRoot {
    pub(crate) mask: u64,
    /// The sign's bit if there is one, else 0.
    pub(crate) sign: u64,
    /// From the first byte after the id.
    pub(crate) offset: u32,
    pub(crate) register: u32,
}

impl Front {
    pub(crate) const EMPTY: Front = Front {
        roots: [FrontRoot {
            mask: 0,
            sign: 0,
            offset: 0,
            register: SCRATCH_REGISTER,
        }; FRONT_ROOTS],
        set: Linear::ZERO,
        set_register: SCRATCH_REGISTER,
        access_count: 0,
        constants: [0; FRONT_ACCESSES],
        registers: [ZERO_REGISTER; FRONT_ACCESSES],
        sites: [SiteId(0); FRONT_ACCESSES],
        sizes: [0; FRONT_ACCESSES],
        mark: Mark::NONE,
        mark_count: 0,
    };
}

/// Fills a front with the first operations of a segment, as far as they fit.
pub(super) struct FrontBuilder {
    front: Front,
    root_count: usize,
    /// An operation did not fit: it and all that follow are steps.
    closed: bool,
}

impl FrontBuilder {
    pub(super) fn new() -> Self {
        FrontBuilder {
            front: Front::EMPTY,
            root_count: 0,
            closed: false,
        }
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    pub(super) fn finish(self) -> Front {
        self.front
    }

    /// Takes a root whose register no operation before it has touched; false if there is no place.
    pub(super) fn root(&mut self, register: u32, encoding: Encoding, offset: u32) -> bool {
        let Some(root) = self.front.roots.get_mut(self.root_count) else {
            self.closed = true;
            return false;
        };
        let bits = u32::from(encoding.width) * 8;
        *root = FrontRoot {
            mask: u64::MAX >> (64 - bits),
            sign: if encoding.signed { 1 << (bits - 1) } else { 0 },
            offset,
            register,
        };
        self.root_count += 1;
        true
    }

    /// Takes `register = value`; false if it must be a step.
    pub(super) fn set(&mut self, register: u32, value: &Value) -> bool {
        let taken = self.try_set(register, value);
        self.closed |= !taken;
        taken
    }

    /// Takes an access; false if it must be a step.
    pub(super) fn access(&mut self, site: SiteId, size: u32, address: &Value) -> bool {
        let taken = self.try_access(site, size, address);
        self.closed |= !taken;
        taken
    }

    /// Takes an event, `mark` being it with no access before it; false if it must be a step.
    pub(super) fn mark(&mut self, mark: Mark) -> bool {
        if self.closed || self.front.mark_count > 0 {
            self.closed = true;
            return false;
        }
        self.front.mark = mark.moved(self.front.access_count);
        self.front.mark_count = 1;
        true
    }

    fn may_set(&self) -> bool {
        !self.closed && self.front.set_register == SCRATCH_REGISTER
    }

    /// The setting comes before all accesses, so those that come before it must be told from the register's new value.
    fn try_set(&mut self, register: u32, value: &Value) -> bool {
        let Some(linear) = value.linear().filter(|_| self.may_set()) else {
            return false;
        };
        let count = self.front.access_count as usize;
        let is_step = linear.near().is_some_and(|near| near.register == register);
        for (other, constant) in self
            .front
            .registers
            .iter()
            .zip(&mut self.front.constants)
            .take(count)
        {
            if *other != register {
                continue;
            }
            if !is_step {
                return false;
            }
            *constant = constant.wrapping_sub(linear.constant);
        }
        self.front.set = linear;
        self.front.set_register = register;
        true
    }

    fn try_access(&mut self, site: SiteId, size: u32, address: &Value) -> bool {
        let index = self.front.access_count as usize;
        if self.closed || index == FRONT_ACCESSES {
            return false;
        }
        let Some((register, constant)) = address.linear().and_then(|linear| self.place(linear)) else {
            return false;
        };
        self.front.registers[index] = register;
        self.front.constants[index] = constant;
        self.front.sites[index] = site;
        self.front.sizes[index] = size;
        self.front.access_count += 1;
        true
    }

    /// An address as a register plus a constant. What has more terms goes to the temporary register first.
    fn place(&mut self, linear: Linear) -> Option<(u32, u64)> {
        if let Some(near) = linear.near() {
            return Some((near.register, near.constant));
        }
        if self.may_set() {
            self.front.set = Linear {
                constant: 0,
                ..linear
            };
            self.front.set_register = TEMPORARY_REGISTER;
        }
        let set = &self.front.set;
        let same = self.front.set_register == TEMPORARY_REGISTER
            && set.scales == linear.scales
            && set.registers == linear.registers;
        same.then_some((TEMPORARY_REGISTER, linear.constant))
    }
}
