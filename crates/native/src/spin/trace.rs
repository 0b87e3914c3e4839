//! Watches a program, instruction by instruction.

use super::decode::{Instruction, MemoryAccess, decode};
use super::{Loop, timer, wait};
use crate::memory;
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::OnceLock;

/// The number of instructions in a watch.
const STEPS: usize = 1024;

/// The most different instructions in a loop that is likely to wait; and how often it must have
/// read the word.
const SHORT: usize = 64;
const READS: usize = 8;

/// Loops that are remembered.
const LOOPS: usize = 8;

/// The flag by which the processor stops behind the next instruction.
const TRAP_FLAG: i64 = 0x100;

/// One executed instruction.
#[derive(Clone, Copy)]
struct ExecutedInstruction {
    /// Its address, a sum over all registers before it, and its access.
    at: u64,
    registers: u64,
    step: Instruction,
}

/// A loop in which the program has waited: the addresses of some instructions.
#[derive(Clone, Copy)]
struct WaitLoop {
    places: [u64; SHORT],
    count: usize,
    likely: bool,
}

struct Watch {
    seen: [ExecutedInstruction; STEPS],
    count: usize,
    /// The step with which all later ones are compared; it moves on at powers of two.
    anchor: usize,
    /// A round's length, once the anchor's state has come again.
    round: usize,
    /// The action that is due as soon as the program is outside our functions, and the steps in
    /// which it was in the loop.
    decided: Option<Loop>,
    rounds: (usize, usize),
    known: [Option<WaitLoop>; LOOPS],
    /// The loop that is forgotten for the next one.
    oldest: usize,
    /// The program's own trap handler.
    before: Option<libc::sigaction>,
}

struct Place(UnsafeCell<Watch>);

// SAFETY: only the thread of the rank is watched, in handlers that do not interrupt each other.
unsafe impl Sync for Place {}

const NOTHING: ExecutedInstruction = ExecutedInstruction {
    at: 0,
    registers: 0,
    step: Instruction::PLAIN,
};

static WATCH: Place = Place(UnsafeCell::new(Watch {
    seen: [NOTHING; STEPS],
    count: 0,
    anchor: 0,
    round: 0,
    decided: None,
    rounds: (0, 0),
    known: [None; LOOPS],
    oldest: 0,
    before: None,
}));

fn watch() -> &'static mut Watch {
    // SAFETY: as of `Place`; no reference outlives the handler.
    unsafe { &mut *WATCH.0.get() }
}

/// The context that a signal has interrupted.
fn interrupted<'a>(context: *mut c_void) -> &'a mut ucontext_t {
    // SAFETY: the kernel's argument of a handler, valid while the handler runs.
    unsafe { &mut *context.cast() }
}

fn place(context: &ucontext_t) -> u64 {
    context.uc_mcontext.gregs[libc::REG_RIP as usize].cast_unsigned()
}

/// Begins a watch.
pub fn begin(context: *mut c_void) {
    let watch = watch();
    if watch.before.is_some() {
        return;
    }
    // SAFETY: zeros are a valid action, and the handler is of this form.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let mut before: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = stops as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        if libc::sigaction(libc::SIGTRAP, &raw const action, &raw mut before) != 0 {
            return;
        }
        watch.before = Some(before);
    }
    (watch.count, watch.anchor, watch.round) = (0, 0, 0);
    watch.decided = None;
    interrupted(context).uc_mcontext.gregs[libc::REG_EFL as usize] |= TRAP_FLAG;
}

/// If the program is in a loop in which it has waited, watches or waits again; returns whether it
/// is.
pub fn again(context: *mut c_void) -> bool {
    let at = place(interrupted(context));
    let mut all = watch().known.iter().flatten();
    match all.find(|known| known.places[..known.count].contains(&at)) {
        Some(known) if known.likely => wait(Loop::Likely),
        Some(_) => begin(context),
        None => return false,
    }
    true
}

/// The processor has stopped behind an instruction.
extern "C" fn stops(_signal: c_int, _info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the place of this thread's error number, which the program must find as it was.
    let error = unsafe { *libc::__errno_location() };
    let context = interrupted(context);
    if !super::may_watch() {
        end(context);
    } else if let Some(why) = watch().step(context) {
        end(context);
        watch().remember(why);
        wait(why);
    } else if watch().count >= STEPS {
        end(context);
        timer::not_waiting();
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
}

/// Ends the watch: the program runs on.
fn end(context: &mut ucontext_t) {
    context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP_FLAG;
    if let Some(before) = watch().before.take() {
        // SAFETY: it is the earlier handler.
        unsafe { libc::sigaction(libc::SIGTRAP, &raw const before, ptr::null_mut()) };
    }
}

impl Watch {
    /// Records the next instruction; returns why the program is to wait, if it is.
    fn step(&mut self, context: &ucontext_t) -> Option<Loop> {
        let at = place(context);
        if let Some(why) = self.decided {
            self.count += 1;
            return (!is_ours(at)).then_some(why);
        }
        let now = self.count;
        let registers = sum(context);
        self.seen[now] = ExecutedInstruction {
            at,
            registers,
            // SAFETY: the processor is about to execute the instruction at this address.
            step: unsafe { decode(at, &context.uc_mcontext.gregs) },
        };
        self.count += 1;
        let same = |a: &ExecutedInstruction, b: &ExecutedInstruction| {
            (a.at, a.registers) == (b.at, b.registers)
        };
        if self.round == 0 && now > self.anchor && same(&self.seen[now], &self.seen[self.anchor]) {
            self.round = now - self.anchor;
        }
        if self.round > 0 && now == self.anchor + 2 * self.round {
            let rounds = &self.seen[self.anchor..now];
            let (first, second) = rounds.split_at(self.round);
            let equal = first.iter().zip(second).all(|(a, b)| same(a, b));
            if equal && rounds.iter().all(|seen| seen.step.is_repeatable()) {
                self.decided = Some(Loop::Proven);
                self.rounds = (self.anchor, now);
            }
            self.round = 0;
        }
        if self.round == 0 && now.is_power_of_two() {
            self.anchor = now;
        }
        if self.decided.is_none() && self.count == STEPS && self.is_likely() {
            self.decided = Some(Loop::Likely);
            self.rounds = (STEPS / 2, STEPS);
        }
        self.decided.filter(|_| !is_ours(at))
    }

    /// Whether the last steps form a short loop that reads a word, which others may write, and does
    /// not write there.
    fn is_likely(&self) -> bool {
        let last = &self.seen[STEPS / 2..];
        let mut places = [0; SHORT];
        let mut count = 0;
        for seen in last {
            if seen.step.is_foreign() || is_ours(seen.at) {
                return false;
            }
            if !places[..count].contains(&seen.at) {
                if count == SHORT {
                    return false;
                }
                places[count] = seen.at;
                count += 1;
            }
        }
        places[..count].iter().any(|&at| {
            let mut here = last.iter().filter(|seen| seen.at == at);
            let Some(MemoryAccess::Reads(word)) = here.next().map(|seen| seen.step.access) else {
                return false;
            };
            let rest = here.clone().count();
            rest + 1 >= READS
                && here.all(|seen| seen.step.access == MemoryAccess::Reads(word))
                && last
                    .iter()
                    .all(|seen| seen.step.access != MemoryAccess::Writes(word))
                && memory::may_be_written(word as usize)
        })
    }

    /// Remembers the loop.
    fn remember(&mut self, why: Loop) {
        let loops = &self.seen[self.rounds.0..self.rounds.1];
        let mut new = WaitLoop {
            places: [0; SHORT],
            count: 0,
            likely: why == Loop::Likely,
        };
        for at in loops.iter().map(|seen| seen.at) {
            if new.count < SHORT && !is_ours(at) && !new.places[..new.count].contains(&at) {
                new.places[new.count] = at;
                new.count += 1;
            }
        }
        let same = |one: &Option<WaitLoop>| {
            one.is_some_and(|one| new.places[..new.count].contains(&one.places[0]))
        };
        let place = self.known.iter().position(same);
        let place = place.or_else(|| self.known.iter().position(Option::is_none));
        let place = place.unwrap_or_else(|| {
            self.oldest = (self.oldest + 1) % LOOPS;
            self.oldest
        });
        self.known[place] = Some(new);
    }
}

/// A sum over all registers that the program uses.
fn sum(context: &ucontext_t) -> u64 {
    let mix = |sum: u64, word: u64| {
        (sum ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    let general = context.uc_mcontext.gregs[..=libc::REG_RIP as usize].iter();
    let sum = general.fold(1, |sum, &word| mix(sum, word.cast_unsigned()));
    let flags = context.uc_mcontext.gregs[libc::REG_EFL as usize] & !TRAP_FLAG;
    let sum = mix(sum, flags.cast_unsigned());
    // SAFETY: the kernel has saved these registers, if it gives their address.
    let vectors = unsafe { context.uc_mcontext.fpregs.as_ref() };
    let words = vectors.into_iter().flat_map(|state| &state._xmm);
    words.fold(sum, |sum, vector| {
        let words = vector.element.iter();
        words.fold(sum, |sum, &word| mix(sum, word.into()))
    })
}

/// Whether an address is in this library or in the C library, where something may be locked.
fn is_ours(at: u64) -> bool {
    static OBJECTS: OnceLock<[(u64, u64); 2]> = OnceLock::new();
    let objects = OBJECTS.get_or_init(|| {
        let own = stops as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        let system = libc::malloc as unsafe extern "C" fn(usize) -> *mut c_void as usize;
        [memory::object_of(own), memory::object_of(system)]
    });
    objects.iter().any(|&(from, to)| (from..to).contains(&at))
}
