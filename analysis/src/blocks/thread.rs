//! What a thread accessed last, and where its stack is.

use std::ops::Range;

use trackway_trace::Batch;

use super::{Inherit, Place, Places, Spots};

/// A thread on its way through its accesses.
#[derive(Debug, Clone)]
pub struct Thread {
    pub spots: Spots,
    /// While no stack of the thread is known: what its sites accessed that is none.
    no_stack: Option<Box<Spots>>,
}

impl Thread {
    pub fn new(sites: usize) -> Self {
        Thread {
            spots: Spots::new(sites),
            no_stack: Some(Box::new(Spots::new(sites))),
        }
    }

    /// While the thread has no stack, the first of the accesses that is taken to be on it: one by way of a local variable
    /// (`local`, by site) to what is nothing else.
    #[inline]
    pub fn first_on_stack<D: Inherit>(
        &mut self,
        places: &Places<D>,
        local: &[bool],
        batch: &Batch,
        mut accesses: Range<usize>,
    ) -> Option<usize> {
        let known = self.no_stack.as_mut()?;
        accesses.find(|&index| {
            let (site, address) = (batch.site[index], batch.address[index]);
            if !local[site.index()] || known.find(&places.heap, site, address).is_some() {
                return false;
            }
            let stretch = places.find(address);
            known.remember(&places.heap, site, &stretch, 0);
            stretch.place == Place::Other
        })
    }

    /// Says where it is.
    pub fn take_stack<D: Inherit>(&mut self, places: &mut Places<D>, batch: &Batch, index: usize) {
        places.add_stack(batch.address[index], batch.stream);
        self.no_stack = None;
    }
}
