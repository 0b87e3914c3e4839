//! Waiting for a word in one's own memory.
//!
//! The word may change by another rank's put or atomic operation. A rank that waits continues when
//! others have written into its memory, and looks at the word again. A program that only tests lets
//! time advance by a step at each unsuccessful test.

use super::{check_running, fail};
use derive::call;
use link::calls::number;
use std::ffi::{c_int, c_void};

/// Whether a comparison (`SHMEM_CMP_EQ` and so on) between a word of a size and a value holds;
/// `None` if there is no such comparison.
pub fn holds(
    word: u64,
    comparison: c_int,
    value: u64,
    size: usize,
    has_sign: bool,
) -> Option<bool> {
    let unused = 64 - 8 * size as u32;
    // Signed numbers are ordered like unsigned ones with the other sign bit.
    let ordered = |word: u64| (word << unused) ^ (u64::from(has_sign) << 63);
    let (word, value) = (ordered(word), ordered(value));
    Some(match comparison {
        0 => word == value,
        1 => word != value,
        2 => word > value,
        3 => word >= value,
        4 => word < value,
        5 => word <= value,
        _ => return None,
    })
}

/// Whether a comparison holds; a comparison that does not exist ends the program.
pub fn must_hold(word: u64, comparison: c_int, value: u64, size: usize, has_sign: bool) -> bool {
    holds(word, comparison, value, size, has_sign)
        .unwrap_or_else(|| fail(format_args!("there is no comparison {comparison}")))
}

/// A word that a program waits for.
pub struct AwaitedWord {
    at: *const c_void,
    size: usize,
}

impl AwaitedWord {
    /// The word of a size at a program address.
    pub fn new(at: *const c_void, size: usize) -> AwaitedWord {
        AwaitedWord { at, size }
    }

    /// The word as it is now.
    pub fn value(&self) -> u64 {
        // SAFETY: the program's word, which other ranks may write at any time.
        unsafe {
            match self.size {
                1 => u64::from(self.at.cast::<u8>().read_volatile()),
                2 => u64::from(self.at.cast::<u16>().read_volatile()),
                4 => u64::from(self.at.cast::<u32>().read_volatile()),
                _ => self.at.cast::<u64>().read_volatile(),
            }
        }
    }

    fn holds(&self, comparison: c_int, value: u64, has_sign: bool) -> bool {
        must_hold(self.value(), comparison, value, self.size, has_sign)
    }
}

/// Waits until something holds that others bring about by writing into this rank's memory.
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        native::wait_for_change();
    }
}

#[call("shmem_wait_until")]
extern "C" fn elanite_shmem_wait_until(
    at: *const c_void,
    size: usize,
    has_sign: c_int,
    comparison: c_int,
    value: u64,
) {
    check_running();
    let word = AwaitedWord::new(at, size);
    wait_until(|| word.holds(comparison, value, has_sign != 0));
}

#[call("shmem_test")]
extern "C" fn elanite_shmem_test(
    at: *const c_void,
    size: usize,
    has_sign: c_int,
    comparison: c_int,
    value: u64,
) -> c_int {
    check_running();
    let word = AwaitedWord::new(at, size);
    let mut holds = word.holds(comparison, value, has_sign != 0);
    if !holds {
        native::look();
        holds = word.holds(comparison, value, has_sign != 0);
    }
    holds.into()
}

/// Words in an array that a program waits for.
struct Words {
    at: *const c_void,
    size: usize,
    has_sign: bool,
    comparison: c_int,
    /// The values to compare with: one for all words, or one for each.
    values: *const c_void,
    values_apart: usize,
    /// The words that count.
    wanted: Vec<usize>,
}

/// How many words must hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitScope {
    All,
    Any,
    Some,
}

impl Words {
    /// The places of words with comparisons that hold.
    fn holding(&self) -> impl Iterator<Item = usize> {
        let hold = |&place: &usize| {
            let word = AwaitedWord::new(self.at.wrapping_byte_add(place * self.size), self.size);
            let value = self.values.wrapping_byte_add(place * self.values_apart);
            let value = AwaitedWord::new(value, self.size).value();
            word.holds(self.comparison, value, self.has_sign)
        };
        self.wanted.iter().copied().filter(hold)
    }

    /// Whether the program's condition holds.
    fn suffice(&self, how_many: WaitScope) -> bool {
        match how_many {
            WaitScope::All => self.holding().count() == self.wanted.len(),
            _ => self.wanted.is_empty() || self.holding().next().is_some(),
        }
    }
}

/// The call numbers for several words: all, any, some.
const WAITS: [u32; 3] = [
    number("shmem_wait_until_all"),
    number("shmem_wait_until_any"),
    number("shmem_wait_until_some"),
];
const TESTS: [u32; 3] = [
    number("shmem_test_all"),
    number("shmem_test_any"),
    number("shmem_test_some"),
];

/// Waits for several words, or tests them. Returns the place of one that holds, how many do, or
/// whether all do; stores the places of those that do if the program wants them.
#[unsafe(no_mangle)]
extern "C" fn elanite_shmem_several(
    at: *const c_void,
    count: usize,
    places: *mut usize,
    ignored: *const c_int,
    how_many: c_int,
    blocks: c_int,
    size: usize,
    has_sign: c_int,
    comparison: c_int,
    values: *const c_void,
    is_vector: c_int,
) -> usize {
    let how = how_many as usize;
    let _call = native::call(if blocks != 0 { WAITS[how] } else { TESTS[how] });
    check_running();
    // SAFETY: the program's array, with a number for each word.
    let counts = |place: &usize| ignored.is_null() || unsafe { ignored.add(*place).read() } == 0;
    let words = Words {
        at,
        size,
        has_sign: has_sign != 0,
        comparison,
        values,
        values_apart: if is_vector != 0 { size } else { 0 },
        wanted: (0..count).filter(counts).collect(),
    };
    let how_many = [WaitScope::All, WaitScope::Any, WaitScope::Some][how];
    if blocks != 0 {
        wait_until(|| words.suffice(how_many));
    } else if !words.suffice(how_many) {
        native::look();
    }
    match how_many {
        WaitScope::All => words.suffice(how_many).into(),
        WaitScope::Any => words.holding().next().unwrap_or(usize::MAX),
        WaitScope::Some => {
            let holding: Vec<usize> = words.holding().collect();
            for (index, &place) in holding.iter().enumerate() {
                // SAFETY: the program has room for a place of each word.
                unsafe { places.add(index).write(place) };
            }
            holding.len()
        }
    }
}
