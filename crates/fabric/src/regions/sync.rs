//! The words in `pace` that threads share. A test takes others in their place.

pub(super) use std::hint::spin_loop;
pub(super) use std::sync::atomic::{AtomicU64, Ordering};
pub(super) use std::sync::{Condvar, Mutex};
pub(super) use std::thread::yield_now;
