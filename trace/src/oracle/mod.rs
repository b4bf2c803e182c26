//! The oracle's account of a trace (`docs/format.md`, section 4), and the comparison with what was decoded.

mod compare;
mod records;

pub use compare::{compare, Comparer, Comparison, Difference, Incomparable, StreamComparison};
pub use records::OracleRecords;

use crate::bytes::{u32_at, u64_at};
use crate::{ChunkKind, Program, Trace, TraceError};

const MULTIPLIER: u64 = 0x9FB2_1C65_1E98_DF25;
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;
const SUMMARY_LENGTH: usize = 24;

/// The oracle's name of a function: FNV-1a-64 over source file name, a zero byte, and linkage name.
pub fn function_hash(source_file: &str, linkage_name: &str) -> u64 {
    let bytes = source_file.bytes().chain([0]).chain(linkage_name.bytes());
    bytes.fold(FNV_OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

/// Number and hash of the accesses of one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub count: u64,
    pub hash: u64,
}

impl Account {
    /// Adds an access; `word` is its [`OracleAccess::word`].
    #[inline]
    pub fn add(&mut self, word: u64, address: u64, size: u64) {
        for value in [word, address, size] {
            self.hash = (self.hash ^ value).rotate_left(29).wrapping_mul(MULTIPLIER);
        }
        self.count += 1;
    }

    /// Adds the value of the access that was added last.
    pub fn add_value(&mut self, words: &[u64]) {
        for word in words {
            self.hash = (self.hash ^ word).rotate_left(29).wrapping_mul(MULTIPLIER);
        }
    }
}

/// An access as the oracle reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OracleAccess {
    /// See [`function_hash`].
    pub function: u64,
    pub ordinal: u32,
    pub part: u8,
    /// Number of the [`crate::AccessKind`].
    pub kind: u8,
    pub address: u64,
    /// Bytes.
    pub size: u64,
}

impl OracleAccess {
    /// The site's part of the hash.
    pub fn word(&self) -> u64 {
        let site = u64::from(self.ordinal) << 16 | u64::from(self.part) << 8 | u64::from(self.kind);
        self.function ^ site
    }
}

/// What the oracle says at the accesses of each site: address and size are 0.
pub fn site_records(program: &Program) -> Vec<OracleAccess> {
    let hash = |function: &crate::Function| {
        function_hash(
            program.string(function.source_file),
            program.string(function.linkage_name),
        )
    };
    let functions: Vec<u64> = program.functions.iter().map(hash).collect();
    let record = |site: &crate::Site| OracleAccess {
        function: functions[site.function.index()],
        ordinal: site.ordinal,
        part: site.part,
        kind: site.kind as u8,
        address: 0,
        size: 0,
    };
    program.sites.iter().map(record).collect()
}

/// The oracle's account of each stream, with the stream's number.
pub fn summaries(trace: &Trace) -> Result<Vec<(u32, Account)>, TraceError> {
    let mut summaries = Vec::new();
    let mut payload = Vec::new();
    for chunk in trace.chunks_of(ChunkKind::OracleSummary) {
        trace.read_units(chunk, SUMMARY_LENGTH, &mut payload)?;
        summaries.extend(payload.chunks_exact(SUMMARY_LENGTH).map(|entry| {
            let account = Account {
                count: u64_at(entry, 8),
                hash: u64_at(entry, 16),
            };
            (u32_at(entry, 0), account)
        }));
    }
    Ok(summaries)
}

/// Payload of an oracle-summary chunk.
pub fn encode_summaries(summaries: &[(u32, Account)]) -> Vec<u8> {
    let mut payload = Vec::with_capacity(summaries.len() * SUMMARY_LENGTH);
    for (stream, account) in summaries {
        payload.extend_from_slice(&stream.to_le_bytes());
        payload.extend_from_slice(&[0; 4]);
        payload.extend_from_slice(&account.count.to_le_bytes());
        payload.extend_from_slice(&account.hash.to_le_bytes());
    }
    payload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_by_fnv_1a() {
        // "" and "a" hash to the published values; here a zero byte stands before the linkage name.
        let after_zero_byte = FNV_OFFSET.wrapping_mul(FNV_PRIME);
        assert_eq!(function_hash("", ""), after_zero_byte);
        assert_eq!(after_zero_byte, 0xaf63_bd4c_8601_b7df);
        assert_ne!(function_hash("a", "bc"), function_hash("ab", "c"));
    }

    #[test]
    fn the_account_follows_the_definition() {
        let access = OracleAccess {
            function: 7,
            ordinal: 1,
            part: 0,
            kind: 1,
            address: 0x1000,
            size: 8,
        };
        assert_eq!(access.word(), 7 ^ 0x1_0001);
        let mut account = Account::default();
        account.add(access.word(), access.address, access.size);
        let step = |hash: u64, word: u64| (hash ^ word).rotate_left(29).wrapping_mul(0x9FB21C651E98DF25);
        assert_eq!(
            account,
            Account {
                count: 1,
                hash: step(step(step(0, 0x1_0006), 0x1000), 8)
            }
        );
    }
}
