//! From a stretch of the buffer to samples.

use super::{decode, DataSources, SpeOperation, TimerClock};
use crate::record::PerfSample;

/// How a processor's operations become samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpeReader {
    /// None if the kernel doesn't say how ticks become time.
    pub clock: Option<TimerClock>,
    /// Whether times of the trace are those of perf's own clock, so that ticks alone say them.
    pub has_perfs_clock: bool,
    pub sources: DataSources,
    /// Operations that each sampled one stands for.
    pub period: u64,
}

/// A part of the buffer that the kernel handed over, as its record says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Of the event.
    pub id: u64,
    pub pid: u32,
    pub tid: u32,
    pub processor: u32,
    /// When it was handed over.
    pub time_ns: u64,
}

impl SpeReader {
    /// The samples of user code, in the order in which they stand there, and the number of damaged places.
    pub fn samples(&self, bytes: &[u8], stretch: &Stretch) -> (Vec<PerfSample>, u64) {
        let decoded = decode(bytes);
        let times = self.times(&decoded.operations, stretch.time_ns);
        let all = decoded.operations.iter().zip(times);
        let in_user_code = all.filter(|(operation, _)| operation.exception_level == 0);
        let samples = in_user_code.map(|(operation, time_ns)| self.sample(operation, time_ns, stretch));
        (samples.collect(), decoded.damaged)
    }

    fn times(&self, operations: &[SpeOperation], end_ns: u64) -> Vec<u64> {
        let ticks: Vec<Option<u64>> = operations.iter().map(|operation| operation.ticks).collect();
        match self.clock {
            None => vec![end_ns; operations.len()],
            Some(clock) if self.has_perfs_clock => {
                let time = |ticks: &Option<u64>| ticks.map_or(end_ns, |ticks| clock.time_ns(ticks));
                ticks.iter().map(time).collect()
            }
            Some(clock) => clock.times_before(end_ns, &ticks),
        }
    }

    fn sample(&self, operation: &SpeOperation, time_ns: u64, stretch: &Stretch) -> PerfSample {
        PerfSample {
            id: stretch.id,
            instruction: operation.instruction,
            is_exact: true,
            pid: stretch.pid,
            tid: stretch.tid,
            time_ns,
            address: operation.address,
            processor: stretch.processor,
            period: self.period,
            latency_cycles: operation.latency_cycles,
            data_source: operation.data_source(self.sources),
            physical_address: operation.physical_address,
            ..PerfSample::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: TimerClock = TimerClock {
        zero_ns: 100,
        multiplier: 10,
        shift: 0,
    };

    fn operation(instruction: u64, ticks: u64) -> Vec<u8> {
        let load = [0x49, 0x00, 0xb2, 0x40, 0, 0, 0, 0, 0, 0, 0];
        let (address, time) = (instruction.to_le_bytes(), ticks.to_le_bytes());
        [&[0xb0][..], &address, &load, &[0x71], &time].concat()
    }

    fn reader(has_perfs_clock: bool, clock: Option<TimerClock>) -> SpeReader {
        SpeReader {
            clock,
            has_perfs_clock,
            sources: DataSources::Unknown,
            period: 4096,
        }
    }

    #[test]
    fn samples_have_the_thread_and_the_time_of_their_stretch() {
        // The one in between is the kernel's.
        let bytes = [
            operation(0x1000, 5),
            operation(0x2000_0000_0000_2000, 6),
            operation(0x3000, 8),
        ]
        .concat();
        let stretch = Stretch {
            id: 3,
            pid: 5,
            tid: 6,
            processor: 1,
            time_ns: 9000,
        };
        let times = |reader: SpeReader| -> Vec<u64> {
            let (samples, damaged) = reader.samples(&bytes, &stretch);
            assert_eq!((samples.len(), damaged), (2, 0));
            assert_eq!((samples[1].instruction, samples[1].address), (0x3000, 0x40));
            assert_eq!((samples[1].id, samples[1].pid, samples[1].tid), (3, 5, 6));
            assert_eq!((samples[1].processor, samples[1].period), (1, 4096));
            assert_eq!(samples[1].data_source, 2, "a load");
            samples.iter().map(|sample| sample.time_ns).collect()
        };
        assert_eq!(times(reader(true, Some(CLOCK))), [150, 180]);
        assert_eq!(times(reader(false, Some(CLOCK))), [8970, 9000]);
        assert_eq!(times(reader(false, None)), [9000, 9000]);
    }
}
