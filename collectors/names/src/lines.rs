//! The lines of addresses, through inlined functions.

use addr2line::Context;

use crate::building::Frame;
use crate::elf::{Bytes, Dwarf};

pub struct Lines<'d>(Context<Bytes<'d>>);

impl<'d> Lines<'d> {
    /// None without debugging information.
    pub fn of(dwarf: std::sync::Arc<Dwarf<'d>>) -> Option<Self> {
        dwarf.units().next().ok().flatten()?;
        Context::from_arc_dwarf(dwarf).ok().map(Lines)
    }

    /// The innermost function comes first.
    pub fn at(&self, address: u64) -> Vec<Frame> {
        let Ok(mut found) = self.0.find_frames(address).skip_all_loads() else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let name = frame
                .function
                .as_ref()
                .and_then(|function| function.raw_name().ok());
            let place = frame.location.as_ref();
            frames.push(Frame {
                function: name.map(String::from).unwrap_or_default(),
                file: place.and_then(|place| place.file).unwrap_or_default().to_owned(),
                line: place.and_then(|place| place.line).unwrap_or(0),
                column: place.and_then(|place| place.column).unwrap_or(0),
            });
        }
        frames
    }
}
