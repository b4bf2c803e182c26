//! Memory that will be needed soon.

/// Has something fetched into the processor's cache.
#[inline(always)]
pub(crate) fn fetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: fetching ahead changes nothing, whatever the address.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
