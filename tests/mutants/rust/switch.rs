//! Which mutant is on: a number in the environment, read once.
//!
//! Mutants are in the allocator, too, and this code allocates: no call waits for another one.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// More mutants than any sample has.
const MOST: usize = 1 << 16;
/// No mutant is on, and the environment has not been read, or is being read.
const UNKNOWN: usize = MOST;
const NONE: usize = MOST + 1;
const RECORD: usize = MOST + 2;

static ON: AtomicUsize = AtomicUsize::new(UNKNOWN);
static SEEN: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];

/// Whether a mutant is on. In a recording, notes at its first call that the program has reached it.
#[inline]
pub fn on(number: usize) -> bool {
    let on = ON.load(Ordering::Relaxed);
    on == number || (on >= MOST && on != NONE && other(on, number))
}

#[cold]
fn other(on: usize, number: usize) -> bool {
    if on == UNKNOWN {
        ON.store(NONE, Ordering::Relaxed);
        let named = std::env::var("ELANITE_MUTANT").map(|name| name.parse().expect("a number"));
        let without = if path().is_some() { RECORD } else { NONE };
        ON.store(named.unwrap_or(without), Ordering::Relaxed);
        return self::on(number);
    }
    if !SEEN[number].swap(true, Ordering::Relaxed) {
        let path = path().expect("a recording has a file");
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(format!("{number}\n").as_bytes()))
            .expect("the list of reached mutants can be written");
    }
    false
}

fn path() -> Option<std::ffi::OsString> {
    std::env::var_os("ELANITE_MUTANTS_REACHED")
}
