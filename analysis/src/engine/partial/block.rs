//! Accesses that were dealt out to a part, as bytes.
//!
//! A block stands alone. It is a sequence of segments, each of one stream:
//!
//! | what | how |
//! | --- | --- |
//! | stream | varint |
//! | items × 2, plus 1 if process and times are not those of the stream's segment before | varint |
//! | then: process, first time − that of the stream's segment before, last − first | varint, zigzag, varint |
//! | items | accesses or a run |
//!
//! An item begins with its number of accesses × 2, or with its number of lanes × 2 + 1 and the run's count. An access
//! is (site − site of the access before) zigzag × 2, plus 1 if its size is not that of the site's access before; then
//! that size; then address − address of the site's access before, zigzag. A lane is site, size, address and stride as
//! varint, varint, varint and zigzag. Varints have 7 bits a byte, the lowest first.

use std::collections::HashMap;

use trackway_trace::{Batch, Lane, LongBlock, SiteId};

use super::PartialError;

/// What encoder and decoder know of a site and of a stream.
#[derive(Debug, Default)]
struct Known {
    /// Address and size of each site's latest access.
    sites: Vec<(u64, u64)>,
    /// Sites that were used, to be forgotten with the block.
    used: Vec<u32>,
    latest: u32,
    streams: HashMap<u32, Origin>,
}

/// Where a segment comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Origin {
    pub process: u32,
    pub first_ns: u64,
    pub last_ns: u64,
}

impl Known {
    fn new(sites: usize) -> Known {
        Known {
            sites: vec![(0, 0); sites],
            ..Known::default()
        }
    }

    fn forget(&mut self) {
        for site in self.used.drain(..) {
            self.sites[site as usize] = (0, 0);
        }
        self.latest = 0;
        self.streams.clear();
    }

    #[inline(always)]
    fn site(&mut self, site: u32) -> &mut (u64, u64) {
        let known = &mut self.sites[site as usize];
        if *known == (0, 0) {
            self.used.push(site);
        }
        known
    }
}

/// Writes blocks.
#[derive(Debug)]
pub(super) struct Writer {
    known: Known,
    bytes: Vec<u8>,
    /// Items of the segment that is being written, each complete. `accesses` holds those of the last item.
    items: Vec<u8>,
    item_count: u64,
    accesses: Vec<u8>,
    access_count: u64,
}

impl Writer {
    /// Makes a writer for a program with this many sites.
    pub fn new(sites: usize) -> Writer {
        Writer {
            known: Known::new(sites),
            bytes: Vec::new(),
            items: Vec::new(),
            item_count: 0,
            accesses: Vec::new(),
            access_count: 0,
        }
    }

    /// Bytes of the segments so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The same with the segment that is being written.
    pub fn open_len(&self) -> usize {
        self.bytes.len() + self.items.len() + self.accesses.len()
    }

    #[inline(always)]
    pub fn access(&mut self, site: u32, address: u64, size: u64) {
        let latest = std::mem::replace(&mut self.known.latest, site);
        let known = self.known.site(site);
        let (address_before, size_before) = std::mem::replace(known, (address, size));
        let step = zigzag(u64::from(site).wrapping_sub(u64::from(latest)));
        let resized = size != size_before;
        put(&mut self.accesses, step << 1 | u64::from(resized));
        if resized {
            put(&mut self.accesses, size);
        }
        put(&mut self.accesses, zigzag(address.wrapping_sub(address_before)));
        self.access_count += 1;
    }

    pub fn run(&mut self, lanes: &[Lane], count: u64) {
        self.end_accesses();
        put(&mut self.items, (lanes.len() as u64) << 1 | 1);
        put(&mut self.items, count);
        for lane in lanes {
            put(&mut self.items, lane.site.0.into());
            put(&mut self.items, lane.size.into());
            put(&mut self.items, lane.address);
            put(&mut self.items, zigzag(lane.stride));
        }
        self.item_count += 1;
    }

    fn end_accesses(&mut self) {
        if self.access_count > 0 {
            put(&mut self.items, self.access_count << 1);
            self.items.append(&mut self.accesses);
            self.access_count = 0;
            self.item_count += 1;
        }
    }

    /// Ends a segment; one without accesses leaves nothing behind.
    pub fn end_segment(&mut self, stream: u32, origin: Origin) {
        self.end_accesses();
        if self.item_count == 0 {
            return;
        }
        let before = self.known.streams.insert(stream, origin);
        put(&mut self.bytes, stream.into());
        put(
            &mut self.bytes,
            self.item_count << 1 | u64::from(before != Some(origin)),
        );
        if before != Some(origin) {
            let before = before.unwrap_or_default();
            put(&mut self.bytes, origin.process.into());
            put(
                &mut self.bytes,
                zigzag(origin.first_ns.wrapping_sub(before.first_ns)),
            );
            put(
                &mut self.bytes,
                zigzag(origin.last_ns.wrapping_sub(origin.first_ns)),
            );
        }
        self.bytes.append(&mut self.items);
        self.item_count = 0;
    }

    /// The block; the next one begins.
    pub fn take(&mut self) -> Vec<u8> {
        self.known.forget();
        std::mem::take(&mut self.bytes)
    }
}

/// Reads blocks, for a program with a known number of sites.
#[derive(Debug)]
pub(super) struct Reader {
    known: Known,
}

impl Reader {
    pub fn new(sites: usize) -> Reader {
        Reader {
            known: Known::new(sites),
        }
    }

    /// Gives all segments of a block to `take`, as batches.
    pub fn read(&mut self, block: &[u8], mut take: impl FnMut(&Batch)) -> Result<(), PartialError> {
        self.known.forget();
        let mut input = Input { block, position: 0 };
        let mut batch = Batch::default();
        while input.position < block.len() {
            self.segment(&mut input, &mut batch)?;
            take(&batch);
        }
        Ok(())
    }

    fn segment(&mut self, input: &mut Input, batch: &mut Batch) -> Result<(), PartialError> {
        batch.clear();
        batch.stream = input.u32()?;
        let head = input.varint()?;
        let mut origin = self.known.streams.get(&batch.stream).copied();
        if head & 1 == 1 {
            let before = origin.unwrap_or_default();
            let process = input.u32()?;
            let first_ns = before.first_ns.wrapping_add(unzigzag(input.varint()?));
            let last_ns = first_ns.wrapping_add(unzigzag(input.varint()?));
            origin = Some(Origin {
                process,
                first_ns,
                last_ns,
            });
        }
        let origin = origin.ok_or_else(|| input.bad("a stream has no times"))?;
        self.known.streams.insert(batch.stream, origin);
        (batch.process, batch.first_ns, batch.last_ns) = (origin.process, origin.first_ns, origin.last_ns);
        for _ in 0..head >> 1 {
            let item = input.varint()?;
            match item & 1 {
                0 => self.accesses(input, item >> 1, batch)?,
                _ => self.run(input, item >> 1, batch)?,
            }
        }
        Ok(())
    }

    fn accesses(&mut self, input: &mut Input, count: u64, batch: &mut Batch) -> Result<(), PartialError> {
        for _ in 0..count {
            let head = input.varint()?;
            let site = self.known.latest.wrapping_add(unzigzag(head >> 1) as u32);
            if site as usize >= self.known.sites.len() {
                return Err(input.bad("a site is unknown"));
            }
            self.known.latest = site;
            let size = match head & 1 {
                1 => Some(input.varint()?),
                _ => None,
            };
            let step = unzigzag(input.varint()?);
            let known = self.known.site(site);
            *known = (known.0.wrapping_add(step), size.unwrap_or(known.1));
            let (address, size) = *known;
            push(batch, site, address, size);
        }
        Ok(())
    }

    fn run(&mut self, input: &mut Input, lanes: u64, batch: &mut Batch) -> Result<(), PartialError> {
        let count = input.varint()?;
        if lanes > input.left() as u64 {
            return Err(input.bad("a run has more lanes than bytes"));
        }
        let mut read = Vec::with_capacity(lanes as usize);
        for _ in 0..lanes {
            let site = input.u32()?;
            if site as usize >= self.known.sites.len() {
                return Err(input.bad("a site is unknown"));
            }
            read.push(Lane {
                site: SiteId(site),
                size: input.u32()?,
                address: input.varint()?,
                stride: unzigzag(input.varint()?),
            });
        }
        batch.push_run(batch.len() as u32, read.into_iter(), count);
        Ok(())
    }
}

fn push(batch: &mut Batch, site: u32, address: u64, size: u64) {
    let in_column = u32::try_from(size).unwrap_or(u32::MAX);
    if in_column == u32::MAX {
        batch.long_blocks.push(LongBlock {
            index: batch.len() as u32,
            length: size,
        });
    }
    batch.site.push(SiteId(site));
    batch.address.push(address);
    batch.size.push(in_column);
}

/// What is left of a block.
struct Input<'b> {
    block: &'b [u8],
    position: usize,
}

impl Input<'_> {
    #[inline(always)]
    fn varint(&mut self) -> Result<u64, PartialError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let Some(&byte) = self.block.get(self.position) else {
                return Err(self.bad("it ends too soon"));
            };
            self.position += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.bad("a number has too many bytes"))
    }

    fn u32(&mut self) -> Result<u32, PartialError> {
        let number = self.varint()?;
        u32::try_from(number).map_err(|_| self.bad("a number is too large"))
    }

    fn left(&self) -> usize {
        self.block.len() - self.position
    }

    #[cold]
    fn bad(&self, what: &'static str) -> PartialError {
        PartialError::BadBlock {
            position: self.position,
            what,
        }
    }
}

#[inline(always)]
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Small for small numbers of either sign.
#[inline(always)]
fn zigzag(number: u64) -> u64 {
    number << 1 ^ ((number as i64) >> 63) as u64
}

#[inline(always)]
fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lane() -> impl Strategy<Value = Lane> {
        (0u32..9, any::<u32>(), any::<u64>(), any::<u64>()).prop_map(|(site, size, address, stride)| Lane {
            site: SiteId(site),
            size,
            address,
            stride,
        })
    }

    #[derive(Debug, Clone)]
    enum Step {
        Access(u32, u64, u64),
        Run(Vec<Lane>, u64),
        End(u32, u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let size = prop_oneof![4 => 0u64..70, 1 => any::<u64>()];
        prop_oneof![
            8 => (0u32..9, any::<u64>(), size).prop_map(|(site, address, size)| Step::Access(site, address, size)),
            1 => (proptest::collection::vec(lane(), 0..4), any::<u64>()).prop_map(|(lanes, count)| Step::Run(lanes, count)),
            2 => (0u32..4, any::<u64>()).prop_map(|(stream, time)| Step::End(stream, time)),
        ]
    }

    /// The accesses with their stream and time.
    fn flat(steps: &[Step]) -> Vec<(u32, u64, Step)> {
        let mut open = Vec::new();
        let mut all = Vec::new();
        for step in steps {
            match step {
                Step::End(stream, time) => all.extend(open.drain(..).map(|step| (*stream, *time, step))),
                step => open.push(step.clone()),
            }
        }
        all
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(mut steps in proptest::collection::vec(step(), 0..80)) {
            steps.push(Step::End(0, 1));
            let mut writer = Writer::new(9);
            for step in &steps {
                match step {
                    Step::Access(site, address, size) => writer.access(*site, *address, *size),
                    Step::Run(lanes, count) => writer.run(lanes, *count),
                    Step::End(stream, time) => writer.end_segment(
                        *stream,
                        Origin { process: stream / 2, first_ns: *time, last_ns: time.wrapping_add(5) },
                    ),
                }
            }
            let mut found = Vec::new();
            Reader::new(9).read(&writer.take(), |batch| {
                assert_eq!((batch.process, batch.last_ns), (batch.stream / 2, batch.first_ns.wrapping_add(5)));
                for piece in batch.pieces() {
                    match piece {
                        trackway_trace::Piece::Accesses(range) => found.extend(range.map(|index| {
                            let step = Step::Access(batch.site[index].0, batch.address[index], batch.length(index));
                            (batch.stream, batch.first_ns, step)
                        })),
                        trackway_trace::Piece::Run(run) => {
                            let step = Step::Run(batch.lanes(run).to_vec(), run.count);
                            found.push((batch.stream, batch.first_ns, step));
                        }
                    }
                }
            }).unwrap();
            prop_assert_eq!(format!("{found:?}"), format!("{:?}", flat(&steps)));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Reader::new(3).read(&bytes, |_| ());
        }
    }
}
