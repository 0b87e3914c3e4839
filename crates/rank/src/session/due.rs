//! Timers that ring in a call that waits; see [`rings`].

use super::{Session, is_held};
use crate::{rings, thread};
use std::sync::OnceLock;

/// Rings all timers that are due.
static RING: OnceLock<fn(&Session)> = OnceLock::new();

/// Sets the function that rings all timers that are due.
pub fn set_ring(ring: fn(&Session)) {
    RING.get_or_init(|| ring);
}

impl Session {
    /// Rings the timers that are due, in a call that waits. The caller must not hold the session's
    /// lock: a handler may leave the call, or the process.
    #[inline]
    pub fn ring(&self) {
        if rings::next() <= self.now()
            && thread::drives_time()
            && !is_held()
            && let Some(ring) = RING.get()
        {
            rings::count();
            ring(self);
        }
    }
}
