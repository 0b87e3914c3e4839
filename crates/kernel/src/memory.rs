//! How much memory a run needs: an allocator that counts.
//!
//! [`CountingAllocator`] wraps an allocator and counts, per thread, the bytes that are allocated
//! and not yet freed, and their peak. A run is one thread's work, so [`measure`] returns its peak
//! regardless of other threads; the count is in requested bytes and therefore the same on every
//! machine with the same type sizes.
//!
//! A program that wants the figures installs the allocator:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: kernel::memory::CountingAllocator = kernel::memory::CountingAllocator::new();
//!
//! let (length, peak) = kernel::memory::measure(|| vec![0_u8; 4096].len());
//! assert_eq!((length, peak.as_u64()), (4096, 4096));
//! ```
//!
//! Where the allocator is not installed, all figures are zero. Memory that one thread allocates and
//! another frees counts up in the first and down in the second. Where several threads work on one
//! run, its thread takes over their [`balance`]s with [`take_over`] when they end.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use units::Bytes;

// Constant initial values and no destructors: reaching the counters never allocates, and works
// until a thread's very end.
thread_local! {
    /// One place for both counters, since finding the place is most work.
    static USE: Use = const { Use { current: Cell::new(0), peak: Cell::new(0) } };
}

struct Use {
    /// Negative where a thread frees the allocations of others.
    current: Cell<i64>,
    peak: Cell<i64>,
}

/// An allocator that counts the bytes that it allocates and frees.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator<A = System>(A);

impl CountingAllocator {
    /// Counts on top of the operating system's allocator.
    #[must_use]
    pub const fn new() -> Self {
        Self(System)
    }
}

impl<A> CountingAllocator<A> {
    /// Counts on top of `allocator`.
    #[must_use]
    pub const fn over(allocator: A) -> Self {
        Self(allocator)
    }
}

/// The bytes that this thread has allocated and not freed.
#[must_use]
pub fn current() -> Bytes {
    bytes(balance())
}

/// The bytes that this thread has allocated, less those that it has freed: negative where it frees
/// the allocations of others.
#[must_use]
pub fn balance() -> i64 {
    USE.with(|own| own.current.get())
}

/// Adds bytes to this thread's count that another thread has allocated. The peak of a [`measure`]
/// stays.
pub fn take_over(bytes: i64) {
    USE.with(|own| own.current.set(own.current.get().wrapping_add(bytes)));
}

/// Runs `work` and returns the memory peak that this thread used meanwhile, beyond the memory in
/// use before. Calls may be nested.
pub fn measure<R>(work: impl FnOnce() -> R) -> (R, Bytes) {
    /// Gives an enclosing measurement its peak back, also if `work` panics.
    struct Outer(i64);
    impl Drop for Outer {
        fn drop(&mut self) {
            USE.with(|own| own.peak.set(own.peak.get().max(self.0)));
        }
    }
    let before = USE.with(|own| own.current.get());
    let _outer = Outer(USE.with(|own| own.peak.replace(before)));
    let result = work();
    (result, bytes(USE.with(|own| own.peak.get()) - before))
}

fn bytes(count: i64) -> Bytes {
    Bytes::new(u64::try_from(count).unwrap_or(0))
}

fn count(allocated: usize, freed: usize) {
    // A size fits into isize, by the rules of `Layout`.
    let more = (allocated.cast_signed() as i64).wrapping_sub(freed.cast_signed() as i64);
    USE.with(|own| {
        let now = own.current.get().wrapping_add(more);
        own.current.set(now);
        own.peak.set(own.peak.get().max(now));
    });
}

// SAFETY: every method passes its arguments to the same method of `A` and returns its result, so
// that the contract of `GlobalAlloc` holds if it holds for `A`. Counting neither allocates nor
// panics: the counters are constants at first and need no destructor.
#[allow(unsafe_code)]
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        let new = unsafe { self.0.alloc(layout) };
        if !new.is_null() {
            count(layout.size(), 0);
        }
        new
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        let new = unsafe { self.0.alloc_zeroed(layout) };
        if !new.is_null() {
            count(layout.size(), 0);
        }
        new
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        let new = unsafe { self.0.realloc(old, layout, size) };
        if !new.is_null() {
            count(size, layout.size());
        }
        new
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { self.0.dealloc(old, layout) };
        count(0, layout.size());
    }
}
