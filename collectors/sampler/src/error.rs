use std::io;

/// Why a program can't be sampled.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    #[error(
        "the kernel refuses to sample ({event}): {source}; /proc/sys/kernel/perf_event_paranoid is {paranoid}, and 2 or \
         less would allow it, as would the capability CAP_PERFMON; in a container a seccomp filter may forbid it"
    )]
    Refused {
        event: String,
        paranoid: String,
        source: io::Error,
    },

    #[error("the kernel can't sample {event}: {source}")]
    Unavailable { event: String, source: io::Error },

    #[error(
        "cannot map a buffer for samples: {source}; /proc/sys/kernel/perf_event_mlock_kb may be too small for another \
         program's buffers and this one: end that, or record as a user with CAP_IPC_LOCK"
    )]
    Buffer { source: io::Error },

    #[error("process {pid} can't be sampled: {source}; it may have ended, or belong to another user")]
    NoProcess { pid: u32, source: io::Error },
}

impl SamplerError {
    pub(crate) fn is_of_ended_thread(&self) -> bool {
        match self {
            SamplerError::Unavailable { source, .. } => source.raw_os_error() == Some(libc::ESRCH),
            _ => false,
        }
    }

    pub(crate) fn opening(event: &str, source: io::Error) -> Self {
        let event = event.to_owned();
        match source.raw_os_error() {
            Some(libc::EACCES | libc::EPERM | libc::ENOSYS) => SamplerError::Refused {
                event,
                paranoid: std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
                    .map_or("unknown".into(), |text| text.trim().to_owned()),
                source,
            },
            _ => SamplerError::Unavailable { event, source },
        }
    }
}
