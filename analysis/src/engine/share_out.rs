//! Sharing work between threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs `worker` on up to `threads` threads at once. Each gets an iterator over the jobs that it takes from all jobs,
/// in their order. Returns when all jobs are done.
pub fn share_out<J: Sync>(
    jobs: &[J],
    threads: NonZeroUsize,
    worker: impl Fn(&mut dyn Iterator<Item = &J>) + Sync,
) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own_jobs = std::iter::from_fn(|| jobs.get(next.fetch_add(1, Ordering::Relaxed)));
        worker(&mut own_jobs);
    };
    thread::scope(|scope| {
        for _ in 1..threads.get().min(jobs.len()) {
            scope.spawn(work);
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_job_is_done_once() {
        for threads in [1, 3, 200] {
            let jobs: Vec<u32> = (0..100).collect();
            let done = Mutex::new(Vec::new());
            share_out(&jobs, NonZeroUsize::new(threads).unwrap(), |jobs| {
                for job in jobs {
                    done.lock().unwrap().push(*job);
                }
            });
            let mut done = done.into_inner().unwrap();
            done.sort_unstable();
            assert_eq!(done, jobs);
        }
    }
}
