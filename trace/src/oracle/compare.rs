//! Whether the decoded accesses are the oracle's.

use std::collections::HashMap;

use super::{site_records, summaries, Account, OracleAccess, OracleRecords};
use crate::{Batch, Decoder, SiteId, Stream, Trace, TraceError};

/// What the comparison of a whole trace comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// All accesses of all streams are equal.
    Equal { accesses: u64 },
    /// The first stream, in the order of their numbers, that differs, or else that could not be compared.
    Unequal {
        stream: u32,
        comparison: StreamComparison,
    },
    /// Nothing in the trace was built with the oracle.
    NoOracle,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamComparison {
    Equal {
        accesses: u64,
    },
    FirstDifference(Box<Difference>),
    /// Without the oracle's dump, no more is known.
    HashDiffers {
        decoded: Account,
        oracle: Account,
    },
    Incomparable(Incomparable),
}

/// The first access at which the trace and the oracle's dump differ. A side that had already ended has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Position of the access in its stream, from 0.
    pub index: u64,
    pub decoded: Option<OracleAccess>,
    /// Site of the decoded access.
    pub site: Option<SiteId>,
    pub oracle: Option<OracleAccess>,
    /// What the accesses loaded or stored, if that was recorded, from the lowest word on.
    pub decoded_value: Vec<u64>,
    pub oracle_value: Vec<u64>,
}

/// Why a stream cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// Buffers of the stream were dropped.
    Gap,
    /// The stream was cut off by the end of its process, and the oracle was ahead of the last record, or within it:
    /// there, addresses may not be stored yet. A dump of the oracle tells.
    CutOff { decoded: Account, oracle: Account },
    /// The oracle has no account of this stream.
    NoAccount,
}

/// Compares all streams of a trace.
pub fn compare(trace: &Trace) -> Result<Comparison, TraceError> {
    let Some(comparer) = Comparer::new(trace)? else {
        return Ok(Comparison::NoOracle);
    };
    let mut total = 0;
    let mut incomparable = None;
    for stream in trace.streams() {
        match comparer.compare(stream)? {
            StreamComparison::Equal { accesses } => total += accesses,
            comparison @ StreamComparison::Incomparable(_) => {
                incomparable.get_or_insert((stream.id, comparison));
            }
            comparison => {
                return Ok(Comparison::Unequal {
                    stream: stream.id,
                    comparison,
                })
            }
        }
    }
    let silent = comparer.silent_stream();
    Ok(match silent.or(incomparable) {
        Some((stream, comparison)) => Comparison::Unequal { stream, comparison },
        None => Comparison::Equal { accesses: total },
    })
}

/// Compares stream by stream; threads may share it.
pub struct Comparer<'t> {
    trace: &'t Trace,
    accounts: HashMap<u32, Account>,
    /// What the oracle says at each site.
    records: Vec<OracleAccess>,
    words: Vec<u64>,
    /// For each site, whether its module was built with the oracle; empty if all were.
    covered: Vec<bool>,
}

impl<'t> Comparer<'t> {
    /// None if nothing in the trace was built with the oracle.
    pub fn new(trace: &'t Trace) -> Result<Option<Self>, TraceError> {
        let accounts: HashMap<u32, Account> = summaries(trace)?.into_iter().collect();
        let built_with = trace.program().modules.iter().any(|module| module.oracle);
        let dumped = trace
            .streams()
            .iter()
            .any(|stream| !stream.oracle_chunks.is_empty());
        if accounts.is_empty() && !dumped && !built_with {
            return Ok(None);
        }
        let records = site_records(trace.program());
        let words = records.iter().map(OracleAccess::word).collect();
        Ok(Some(Comparer {
            trace,
            accounts,
            records,
            words,
            covered: covered_sites(trace),
        }))
    }

    /// Compares one stream, access by access if there is a dump of it, else by count and hash.
    pub fn compare(&self, stream: &Stream) -> Result<StreamComparison, TraceError> {
        if self.trace.gaps().iter().any(|gap| gap.stream == stream.id) {
            return Ok(StreamComparison::Incomparable(Incomparable::Gap));
        }
        if !stream.oracle_chunks.is_empty() {
            return self.compare_records(stream);
        }
        match self.accounts.get(&stream.id) {
            Some(oracle) => self.compare_hashes(stream, *oracle),
            // Only streams with accesses have an account.
            None => Ok(match self.compare_hashes(stream, Account::default())? {
                equal @ StreamComparison::Equal { .. } => equal,
                _ => StreamComparison::Incomparable(Incomparable::NoAccount),
            }),
        }
    }

    /// A stream for which the oracle has accesses, but the trace has nothing at all.
    fn silent_stream(&self) -> Option<(u32, StreamComparison)> {
        let silent = |(stream, account): (&u32, &Account)| {
            (account.count > 0 && self.trace.stream(*stream).is_none()).then_some((*stream, *account))
        };
        let (stream, oracle) = self
            .accounts
            .iter()
            .filter_map(silent)
            .min_by_key(|(stream, _)| *stream)?;
        Some((
            stream,
            StreamComparison::HashDiffers {
                decoded: Account::default(),
                oracle,
            },
        ))
    }

    fn compare_hashes(&self, stream: &Stream, oracle: Account) -> Result<StreamComparison, TraceError> {
        let mut hashing = Hashing {
            target: oracle.count,
            ..Hashing::default()
        };
        self.each_batch(stream, |batch| {
            hashing.begin(batch);
            for index in 0..batch.len() {
                if batch.uncertain_from == Some(index as u32) {
                    hashing.certain.get_or_insert(hashing.decoded.count);
                }
                let site = batch.site[index];
                if self.covers(site) {
                    hashing.add(
                        self.words[site.index()],
                        batch.address[index],
                        batch.length(index),
                        batch.value(index).map_or(&[], |value| value.words),
                    );
                }
            }
            Ok(true)
        })?;
        Ok(hashing.verdict(oracle, is_cut_off(stream)))
    }

    fn compare_records(&self, stream: &Stream) -> Result<StreamComparison, TraceError> {
        let mut oracle_records = OracleRecords::new(self.trace, stream);
        let mut index = 0;
        let mut difference = None;
        let mut reached_unstored = false;
        self.each_batch(stream, |batch| {
            for position in 0..batch.len() {
                if !self.covers(batch.site[position]) {
                    continue;
                }
                let decoded = self.record(batch, position);
                let oracle = oracle_records.next_access()?;
                let value = batch.value(position).map_or(&[][..], |value| value.words);
                if oracle != Some(decoded) || value != oracle_records.value() {
                    // The access may not have happened, or may have had another address.
                    reached_unstored = batch.uncertain_from.is_some_and(|from| position >= from as usize);
                    if !reached_unstored {
                        let site = Some(batch.site[position]);
                        difference = Some(Difference {
                            index,
                            decoded: Some(decoded),
                            site,
                            oracle,
                            decoded_value: value.to_vec(),
                            oracle_value: oracle_records.value().to_vec(),
                        });
                    }
                    return Ok(false);
                }
                index += 1;
            }
            Ok(true)
        })?;
        if difference.is_none() && !reached_unstored {
            let oracle = oracle_records.next_access()?;
            difference = oracle.map(|_| Difference {
                index,
                decoded: None,
                site: None,
                oracle,
                decoded_value: Vec::new(),
                oracle_value: oracle_records.value().to_vec(),
            });
        }
        Ok(match difference {
            None => StreamComparison::Equal { accesses: index },
            Some(difference) => StreamComparison::FirstDifference(Box::new(difference)),
        })
    }

    fn record(&self, batch: &Batch, position: usize) -> OracleAccess {
        let site = batch.site[position];
        OracleAccess {
            address: batch.address[position],
            size: batch.length(position),
            ..self.records[site.index()]
        }
    }

    fn covers(&self, site: SiteId) -> bool {
        self.covered.is_empty() || self.covered[site.index()]
    }

    /// Calls `take` with the stream's batches, until it returns false.
    fn each_batch(
        &self,
        stream: &Stream,
        mut take: impl FnMut(&Batch) -> Result<bool, TraceError>,
    ) -> Result<(), TraceError> {
        let mut decoder = Decoder::new(self.trace);
        for chunk in &stream.chunks {
            let mut batches = decoder.decode(chunk)?;
            while let Some(batch) = batches.next_batch()? {
                if !take(batch)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Whether the stream's thread never handed over its last buffer.
fn is_cut_off(stream: &Stream) -> bool {
    stream.chunks.last().is_some_and(|chunk| chunk.header.is_tail())
}

fn covered_sites(trace: &Trace) -> Vec<bool> {
    let program = trace.program();
    if program.modules.iter().all(|module| module.oracle) {
        return Vec::new();
    }
    let mut covered = vec![false; program.sites.len()];
    for module in program.modules.iter().filter(|module| module.oracle) {
        covered[module.sites.start as usize..module.sites.end as usize].fill(true);
    }
    covered
}

#[derive(Default)]
struct Hashing {
    decoded: Account,
    /// The oracle's count, and the decoded account at that count.
    target: u64,
    at_target: Account,
    /// Sequence of the present chunk.
    chunk: Option<u64>,
    /// How many accesses surely happened; none: all.
    certain: Option<u64>,
}

impl Hashing {
    /// A chunk's uncertain accesses are its last ones; if another chunk follows, they have happened.
    fn begin(&mut self, batch: &Batch) {
        if self.chunk != Some(batch.sequence) {
            self.chunk = Some(batch.sequence);
            self.certain = None;
        }
    }

    fn add(&mut self, word: u64, address: u64, size: u64, value: &[u64]) {
        self.decoded.add(word, address, size);
        self.decoded.add_value(value);
        if self.decoded.count == self.target {
            self.at_target = self.decoded;
        }
    }

    /// Accepts that accesses of the last record may not have happened.
    fn verdict(&self, oracle: Account, cut_off: bool) -> StreamComparison {
        let decoded = self.decoded;
        let certain = self.certain.unwrap_or(decoded.count);
        if self.at_target == oracle && oracle.count >= certain {
            return StreamComparison::Equal {
                accesses: oracle.count,
            };
        }
        match cut_off && oracle.count > certain {
            true => StreamComparison::Incomparable(Incomparable::CutOff { decoded, oracle }),
            false => StreamComparison::HashDiffers { decoded, oracle },
        }
    }
}
