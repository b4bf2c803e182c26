//! Sharing work between threads.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
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

/// What `work` makes of each job, in their order, on up to `threads` threads at once.
pub fn each<J: Sync, R: Send>(jobs: &[J], threads: NonZeroUsize, work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let numbered: Vec<(usize, &J)> = jobs.iter().enumerate().collect();
    let done = Mutex::new(Vec::with_capacity(jobs.len()));
    share_out(&numbered, threads, |own| {
        for &(number, job) in own {
            let made = work(job);
            done.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((number, made));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

/// What both make, at the same time if there are threads for it.
pub fn both<A, B: Send>(
    threads: NonZeroUsize,
    first: impl FnOnce() -> A,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads.get() == 1 {
        return (first(), second());
    }
    thread::scope(|scope| {
        let second = scope.spawn(second);
        let first = first();
        (first, second.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn what_is_made_of_each_job_comes_in_their_order() {
        let jobs: Vec<u64> = (0..40).collect();
        let threads = NonZeroUsize::new(4).unwrap();
        let made = each(&jobs, threads, |job| {
            thread::sleep(std::time::Duration::from_micros(40 - job));
            job * 3
        });
        assert_eq!(made, jobs.iter().map(|job| job * 3).collect::<Vec<_>>());
    }

    #[test]
    fn both_are_made_on_one_thread_or_two() {
        for (threads, apart) in [(1, false), (2, true)] {
            let here = || thread::current().id();
            let (first, second) = both(NonZeroUsize::new(threads).unwrap(), here, here);
            assert_eq!(first, here());
            assert_eq!(second != first, apart);
        }
    }
}
