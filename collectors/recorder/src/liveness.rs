//! Lets the program know that its recorder lives: a robust mutex in the ring, which the kernel marks however the
//! thread that holds it ends. Unlike a process id it isn't reused, needs no reaping and means the same everywhere.

use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::ring::Ring;

pub struct Liveness<'ring> {
    mutex: *mut libc::pthread_mutex_t,
    ring: PhantomData<&'ring Ring>,
}

const _: () = assert!(size_of::<libc::pthread_mutex_t>() <= size_of::<crate::abi::RecorderLockWords>());

impl<'ring> Liveness<'ring> {
    /// Must be dropped by the thread that called it, which the pointer inside sees to.
    pub fn begin(ring: &'ring Ring) -> io::Result<Self> {
        let mutex = ring.header().recorder_lock.0.as_ptr().cast_mut().cast();
        // SAFETY: the ring has room for a mutex there, aligned and zeroed, and outlives it by the lifetime.
        unsafe { lock_robustly(mutex)? };
        Ok(Self {
            mutex,
            ring: PhantomData,
        })
    }
}

impl Drop for Liveness<'_> {
    fn drop(&mut self) {
        // SAFETY: this thread holds the mutex since `begin`.
        unsafe { libc::pthread_mutex_unlock(self.mutex) };
    }
}

unsafe fn lock_robustly(mutex: *mut libc::pthread_mutex_t) -> io::Result<()> {
    let mut attributes = MaybeUninit::uninit();
    check(libc::pthread_mutexattr_init(attributes.as_mut_ptr()))?;
    let attributes = attributes.as_mut_ptr();
    check(libc::pthread_mutexattr_setpshared(
        attributes,
        libc::PTHREAD_PROCESS_SHARED,
    ))?;
    check(libc::pthread_mutexattr_setrobust(
        attributes,
        libc::PTHREAD_MUTEX_ROBUST,
    ))?;
    check(libc::pthread_mutex_init(mutex, attributes))?;
    check(libc::pthread_mutex_lock(mutex))
}

fn check(error: libc::c_int) -> io::Result<()> {
    match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
