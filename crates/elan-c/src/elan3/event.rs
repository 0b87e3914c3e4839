//! Events: counted occurrences, and the actions after the last one.
//!
//! | an event | |
//! |---|---|
//! | is made | its count is 0: it has not occurred, and does not wait |
//! | is primed with n | its count grows by n: it occurs when it has been set n more times |
//! | is set | its count falls by one; at 0, the event occurs |
//!
//! Sets before an event is primed count.

use super::super::{hold, until, within, words};
use super::Elan3Context;
use super::{dma, space};
use derive::call;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_long, c_uint, c_ulong, c_void};
use std::sync::Mutex;

/// An event's action when it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Nothing,
    /// Writes 1 to a word in main memory.
    Word(usize),
    /// Copies a block from the adapter's memory to main memory. Its last word is then not 0.
    Block(usize, usize),
    /// Starts a DMA, and primes the event again, unless the count is 0.
    Dma(c_ulong, c_int),
}

/// An event.
#[derive(Clone, Copy, Debug)]
struct Event {
    count: i64,
    occurred: bool,
    action: Action,
}

const NEW: Event = Event {
    count: 0,
    occurred: false,
    action: Action::Nothing,
};

/// Where the last word in an `E3_Event_Blk` lies, which marks the block as written.
const DONE: usize = 60;

static EVENTS: Mutex<BTreeMap<u32, Event>> = Mutex::new(BTreeMap::new());

/// The context begins: no event is known.
pub fn begin() {
    hold(&EVENTS).clear();
}

impl Event {
    /// Primes the event; whether it occurs immediately, since it has been set often enough before.
    fn prime(&mut self, count: i64) -> bool {
        self.count += count;
        self.occurred = self.count <= 0;
        self.occurred && count > 0
    }

    /// Sets the event; whether it occurs.
    fn set(&mut self) -> bool {
        self.count -= 1;
        self.occurred |= self.count == 0;
        self.count == 0
    }
}

/// Carries out an occurring event's action.
fn act(event: &mut Event) {
    let pointer = std::ptr::with_exposed_provenance_mut::<u8>;
    let word_at = std::ptr::with_exposed_provenance_mut::<u32>;
    match event.action {
        Action::Nothing => (),
        // SAFETY: the program has given the word, and leaves it there.
        Action::Word(word) => unsafe { word_at(word).write_volatile(1) },
        // SAFETY: the program has given both blocks.
        Action::Block(from, to) => unsafe {
            let done = word_at(from + DONE).read_unaligned().max(1);
            pointer(to).copy_from(pointer(from), DONE);
            word_at(to + DONE).write_volatile(done);
        },
        Action::Dma(descriptor, again) => {
            dma::later(descriptor);
            if event.prime(again.into()) {
                act(event);
            }
        }
    }
}

/// Sets the event at a context address. An event that is not known yet remembers that it was set.
pub fn set(elan: u32) {
    let mut events = hold(&EVENTS);
    let event = events.entry(elan).or_insert(NEW);
    if event.set() {
        act(event);
    }
}

/// Changes an event by its place in the adapter's memory.
fn with<T>(at: c_ulong, change: impl FnOnce(&mut Event) -> T) -> T {
    let elan = space::elan_of(at);
    change(hold(&EVENTS).entry(elan).or_insert(NEW))
}

fn make(at: c_ulong, action: Action) {
    with(at, |event| *event = Event { action, ..NEW });
}

fn has_occurred(at: c_ulong) -> bool {
    with(at, |event| event.occurred)
}

// The callers of the functions below keep to the headers.

#[unsafe(no_mangle)]
extern "C" fn elan3_initevent(_ctx: *mut Elan3Context, at: c_ulong) {
    make(at, Action::Nothing);
}

#[unsafe(no_mangle)]
extern "C" fn elan3_initevent_word(_ctx: *mut Elan3Context, at: c_ulong, word: *mut u32) {
    make(at, Action::Word(word.expose_provenance()));
}

#[unsafe(no_mangle)]
extern "C" fn elan3_initevent_main(
    _ctx: *mut Elan3Context,
    at: c_ulong,
    source: c_ulong,
    block: *mut c_void,
) {
    make(
        at,
        Action::Block(source as usize, block.expose_provenance()),
    );
}

#[unsafe(no_mangle)]
extern "C" fn elan3_primeevent(_ctx: *mut Elan3Context, at: c_ulong, count: c_int) {
    with(at, |event| {
        if event.prime(count.into()) {
            act(event);
        }
    });
    dma::go_on();
}

#[call]
extern "C" fn elan3_setevent(_ctx: *mut Elan3Context, at: c_ulong) {
    set(space::elan_of(at));
    dma::go_on();
}

#[call]
extern "C" fn elan3_pollevent(_ctx: *mut Elan3Context, at: c_ulong, how: c_long) -> c_int {
    c_int::from(within(how, || has_occurred(at)))
}

#[call]
unsafe extern "C" fn elan3_pollevent_word(
    _ctx: *mut Elan3Context,
    word: *const u32,
    how: c_long,
) -> c_int {
    // SAFETY: the word of the program lives as long as it waits for it.
    c_int::from(within(how, || unsafe { words::is_set(word) }))
}

#[call]
extern "C" fn elan3_waitevent(_ctx: *mut Elan3Context, at: c_ulong) {
    until(|| has_occurred(at));
}

#[call]
unsafe extern "C" fn elan3_waitevent_word(
    _ctx: *mut Elan3Context,
    _at: c_ulong,
    word: *const u32,
    _how: c_long,
) {
    // SAFETY: the word of the program lives as long as it waits for it.
    until(|| unsafe { words::is_set(word) });
}

#[call]
unsafe extern "C" fn elan3_waitevent_blk(
    _ctx: *mut Elan3Context,
    _at: c_ulong,
    block: *const u8,
    _how: c_long,
) {
    // SAFETY: the block of the program, which is longer than the place of its word.
    until(|| unsafe { words::is_set(block.add(DONE).cast()) });
}

/// An event that has occurred starts the DMA immediately.
#[call]
extern "C" fn elan3_waitdmaevent(_ctx: *mut Elan3Context, descriptor: c_ulong, at: c_ulong) {
    with(at, |event| {
        event.action = Action::Dma(descriptor, 0);
        if event.occurred {
            act(event);
        }
    });
    dma::go_on();
}

#[call]
extern "C" fn elan3_waitdmaevent0(
    _ctx: *mut Elan3Context,
    descriptor: c_ulong,
    at: c_ulong,
    _wait: c_ulong,
    count: c_uint,
) {
    with(at, |event| {
        let again = count.cast_signed();
        event.action = Action::Dma(descriptor, again);
        if event.prime(again.into()) {
            act(event);
        }
    });
    dma::go_on();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_count_what_comes_early() {
        let mut event = NEW;
        assert!(!event.set(), "nothing was primed");
        assert!(!event.prime(2));
        assert!(!event.occurred);
        assert!(event.set());
        assert!(event.occurred);
        assert!(!event.prime(1));
        assert!(!event.occurred);
        assert!(event.set());
        assert!(!event.set(), "it has occurred");
        assert!(event.prime(1), "it was set before");
    }

    #[test]
    fn words_and_blocks_are_written() {
        let mut word = 0_u32;
        let at = (&raw mut word).expose_provenance();
        act(&mut Event {
            action: Action::Word(at),
            ..NEW
        });
        assert_eq!(word, 1);
        let (mut from, mut to) = ([7_u8; DONE + 4], [0_u8; DONE + 4]);
        from[DONE..].fill(0);
        let places = (
            from.as_mut_ptr().expose_provenance(),
            to.as_mut_ptr().expose_provenance(),
        );
        act(&mut Event {
            action: Action::Block(places.0, places.1),
            ..NEW
        });
        assert_eq!(to[..DONE], [7; DONE]);
        assert_eq!(to[DONE..], 1_u32.to_ne_bytes());
    }
}
