//! Where the files under open C streams stand, as far as their bytes have counted.

use libc::c_int;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// By file number.
static PLACES: Mutex<BTreeMap<c_int, u64>> = Mutex::new(BTreeMap::new());

/// How many streams are open.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// Whether any stream is open.
pub fn are_open() -> bool {
    OPEN.load(Ordering::Relaxed) > 0
}

/// Calls a function on the places, unless a thread holds them; a signal handler may have
/// interrupted this one.
pub fn with<R>(act: impl FnOnce(&mut BTreeMap<c_int, u64>) -> Option<R>) -> Option<R> {
    let mut places = PLACES.try_lock().ok()?;
    let result = act(&mut places);
    OPEN.store(places.len(), Ordering::Relaxed);
    result
}

/// A file's bytes count up to this place.
pub fn stands(file: c_int, now: u64) {
    if are_open() {
        with(|places| places.get_mut(&file).map(|place| *place = now));
    }
}
