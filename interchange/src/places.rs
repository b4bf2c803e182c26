//! Where code lay.

use std::collections::HashMap;
use std::ops::Range;

use trackway_trace::machine::{CodeBuilder, ANONYMOUS};

use crate::blocks::Shape;
use crate::drmemtrace::{LoadedObject, LoadedObjects};

/// The objects to which code belongs, in the table that is being built.
#[derive(Default)]
pub struct Places {
    /// Objects in the table, by their number in the list of loaded objects.
    known: HashMap<usize, u32>,
    pub load_addresses: Vec<u64>,
}

impl Places {
    /// The number of the block's object, and where it lay.
    pub fn of_block(
        &mut self,
        shape: &Shape,
        objects: &LoadedObjects,
        builder: &mut CodeBuilder,
    ) -> (u32, Range<u64>) {
        let Some(number) = shape.address().and_then(|address| objects.at(address).0) else {
            return (builder.object(ANONYMOUS), 0..u64::MAX);
        };
        let LoadedObject { path, start, end } = &objects.objects[number];
        let load_addresses = &mut self.load_addresses;
        let object = *self.known.entry(number).or_insert_with(|| {
            let object = builder.object(path);
            builder.place(object, end - start);
            load_addresses.push(*start);
            object
        });
        (object, *start..*end)
    }
}
