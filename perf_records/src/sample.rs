//! Samples.

use perf_event_open_sys::bindings as perf;

use crate::fields::Fields;
use crate::registers::SampledRegisters;

/// What the samples and other records of an event hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleLayout {
    /// `sample_type` of the event's attributes.
    pub sample_type: u64,
    /// `sample_regs_user` and `sample_regs_intr`: a bit for each register.
    pub user_registers: u64,
    pub interrupt_registers: u64,
    pub read_format: u64,
    pub branch_sample_type: u64,
    /// Whether records that are no samples have time and identity, too (`sample_id_all`).
    pub identifies_all: bool,
}

/// A sample as the kernel delivers it; what it doesn't hold is 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerfSample {
    /// Id of the event, or of the one from which it was inherited.
    pub id: u64,
    /// Address of the instruction.
    pub instruction: u64,
    /// Whether the processor says that the address is that of the instruction which caused the event.
    pub is_exact: bool,
    pub pid: u32,
    pub tid: u32,
    pub time_ns: u64,
    /// Address of the data.
    pub address: u64,
    pub processor: u32,
    /// Events since the sample before.
    pub period: u64,
    /// Callers' addresses, innermost first.
    pub callers: Vec<u64>,
    /// The program's registers, if the sample has them.
    pub registers: Option<SampledRegisters>,
    /// Cycles that the access took.
    pub latency_cycles: u64,
    pub data_source: u64,
    pub physical_address: u64,
}

impl SampleLayout {
    pub(crate) fn has(&self, field: perf::perf_event_sample_format) -> bool {
        self.sample_type & u64::from(field) != 0
    }
}

impl PerfSample {
    /// Reads the content of a sample. None if it is shorter than its fields.
    pub(crate) fn parse(content: &[u8], layout: &SampleLayout, flags: u16) -> Option<PerfSample> {
        let mut fields = Fields::new(content);
        let mut sample = PerfSample {
            is_exact: u32::from(flags) & perf::PERF_RECORD_MISC_EXACT_IP != 0,
            ..PerfSample::default()
        };
        sample.parse_identity(&mut fields, layout)?;
        sample.parse_stack(&mut fields, layout)?;
        sample.parse_access(&mut fields, layout)?;
        Some(sample)
    }

    fn parse_identity(&mut self, fields: &mut Fields, layout: &SampleLayout) -> Option<()> {
        if layout.has(perf::PERF_SAMPLE_IDENTIFIER) {
            self.id = fields.u64()?;
        }
        if layout.has(perf::PERF_SAMPLE_IP) {
            self.instruction = fields.u64()?;
        }
        if layout.has(perf::PERF_SAMPLE_TID) {
            (self.pid, self.tid) = (fields.u32()?, fields.u32()?);
        }
        if layout.has(perf::PERF_SAMPLE_TIME) {
            self.time_ns = fields.u64()?;
        }
        if layout.has(perf::PERF_SAMPLE_ADDR) {
            self.address = fields.u64()?;
        }
        if layout.has(perf::PERF_SAMPLE_ID) {
            self.id = fields.u64()?;
        }
        if layout.has(perf::PERF_SAMPLE_STREAM_ID) {
            fields.u64()?;
        }
        if layout.has(perf::PERF_SAMPLE_CPU) {
            self.processor = fields.u32()?;
            fields.u32()?;
        }
        if layout.has(perf::PERF_SAMPLE_PERIOD) {
            self.period = fields.u64()?;
        }
        Some(())
    }

    fn parse_stack(&mut self, fields: &mut Fields, layout: &SampleLayout) -> Option<()> {
        if layout.has(perf::PERF_SAMPLE_READ) {
            skip_counts(fields, layout.read_format)?;
        }
        if layout.has(perf::PERF_SAMPLE_CALLCHAIN) {
            let count = fields.u64()?;
            let callers = fields.bytes(usize::try_from(count).ok()?.checked_mul(8)?)?;
            let addresses = callers.chunks_exact(8).filter_map(|word| Fields::new(word).u64());
            // Numbers beside the greatest one mark whose frames follow.
            self.callers = addresses.filter(|address| *address < -4095i64 as u64).collect();
        }
        if layout.has(perf::PERF_SAMPLE_RAW) {
            let length = fields.u32()?;
            fields.bytes(length as usize)?;
        }
        if layout.has(perf::PERF_SAMPLE_BRANCH_STACK) {
            let count = fields.u64()?;
            let has_index = layout.branch_sample_type & u64::from(perf::PERF_SAMPLE_BRANCH_HW_INDEX) != 0;
            fields.skip(count.checked_mul(3)?.checked_add(u64::from(has_index))?)?;
        }
        if layout.has(perf::PERF_SAMPLE_REGS_USER) {
            self.registers = parse_registers(fields, layout.user_registers)?;
        }
        if layout.has(perf::PERF_SAMPLE_STACK_USER) {
            let length = fields.u64()?;
            fields.bytes(usize::try_from(length).ok()?)?;
            if length > 0 {
                fields.u64()?; // how much of it was filled
            }
        }
        Some(())
    }

    fn parse_access(&mut self, fields: &mut Fields, layout: &SampleLayout) -> Option<()> {
        if layout.has(perf::PERF_SAMPLE_WEIGHT) {
            self.latency_cycles = fields.u64()?;
        } else if layout.has(perf::PERF_SAMPLE_WEIGHT_STRUCT) {
            // The lower half is the access's latency; the upper ones are other times.
            self.latency_cycles = fields.u64()? & 0xffff_ffff;
        }
        if layout.has(perf::PERF_SAMPLE_DATA_SRC) {
            self.data_source = fields.u64()?;
        }
        if layout.has(perf::PERF_SAMPLE_TRANSACTION) {
            fields.u64()?;
        }
        if layout.has(perf::PERF_SAMPLE_REGS_INTR) {
            parse_registers(fields, layout.interrupt_registers)?;
        }
        if layout.has(perf::PERF_SAMPLE_PHYS_ADDR) {
            self.physical_address = fields.u64()?;
        }
        Some(())
    }
}

/// The outer option: whether the record is long enough. The inner one: whether it has registers; the kernel's threads
/// have none.
fn parse_registers(fields: &mut Fields, mask: u64) -> Option<Option<SampledRegisters>> {
    const ABI_64: u64 = 2;
    let abi = fields.u64()?;
    if abi == 0 {
        return Some(None);
    }
    let values = fields.bytes(8 * mask.count_ones() as usize)?;
    Some((abi == ABI_64).then(|| SampledRegisters::parse(values, mask)))
}

/// Skips the values of counters.
fn skip_counts(fields: &mut Fields, format: u64) -> Option<()> {
    let has = |field: perf::perf_event_read_format| u64::from(format & u64::from(field) != 0);
    let times = has(perf::PERF_FORMAT_TOTAL_TIME_ENABLED) + has(perf::PERF_FORMAT_TOTAL_TIME_RUNNING);
    let each = 1 + has(perf::PERF_FORMAT_ID) + has(perf::PERF_FORMAT_LOST);
    if has(perf::PERF_FORMAT_GROUP) == 1 {
        let count = fields.u64()?;
        return fields.skip(times.checked_add(count.checked_mul(each)?)?);
    }
    fields.skip(times + each)
}
