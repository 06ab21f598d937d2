//! Asking for memory before it is needed.

/// Asks for the element of `all` at `index`, if there is one, so that nobody waits for it when it is needed
/// soon after.
#[inline]
pub(crate) fn prefetch<T>(all: &[T], index: usize) {
    if let Some(element) = all.get(index) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            #[allow(unsafe_code)]
            // SAFETY: A prefetch reads nothing, and the address is that of an element.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast());
            }
        }
        // Elsewhere one cannot ask; the processor has to see for itself what comes.
        #[cfg(not(target_arch = "x86_64"))]
        let _ = element;
    }
}
