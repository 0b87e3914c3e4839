//! Whether the program repeats itself, so that it makes the same calls for ever unless others act.
//!
//! The simulator asks this only while no rank has had a pending message for some time
//! ([`link::Simulator::observe`]), so that the program has no cost otherwise. At each MPI call the
//! program's *state* is then taken: the registers that calls preserve, the stack above the call,
//! the program's static variables, and the words that its gets and atomics have brought since the
//! last call. A program that has only known states, and gets the same answers, makes the same calls
//! again. A loop that counts its rounds is in a new state in each, and may end by itself; so is any
//! program that continues with other work.
//!
//! *Limits.* Variables on the heap are not compared, since the MPI library and this one change
//! theirs at each look. A loop that counts there, and nowhere else, looks like one that does not
//! count. States are unknown, and count as new, in calls that do not come from the program itself
//! (an interpreter's modules, plugins), on other stacks than the first thread's, in programs with
//! more than [`MOST`] bytes in stack and variables, and on processors with registers unknown to
//! this module.

#![allow(unsafe_code)] // the bytes in the program's stack and variables

use link::{Checksum, EndKind, Report};
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The most bytes in stack and static variables that are compared.
const MOST: usize = 16 << 20;

/// How many states are remembered: a loop with more calls counts as new in each.
const STATES: usize = 64;

/// Where a call has come from: the stack pointer in the entry point, and the registers that calls
/// preserve.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The frames of the entry point and its callers lie from here on.
    pub stack: usize,
    registers: [usize; 10],
}

impl Frame {
    /// The present place; to be called in the entry point's own frame.
    #[inline(always)]
    #[allow(clippy::inline_always)] // another function's frame would be gone
    pub fn here() -> Frame {
        let (mut stack, mut registers) = (0, [0; 10]);
        let place = registers.as_mut_ptr();
        // SAFETY: copies the stack pointer, and registers to the array, which has room for ten.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!(
                "mov {stack}, rsp",
                "mov [{place}], rbx",
                "mov [{place} + 8], rbp",
                "mov [{place} + 16], r12",
                "mov [{place} + 24], r13",
                "mov [{place} + 32], r14",
                "mov [{place} + 40], r15",
                stack = out(reg) stack,
                place = in(reg) place,
                options(nostack, preserves_flags),
            );
        }
        // SAFETY: the same.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!(
                "mov {stack}, sp",
                "stp x19, x20, [{place}]",
                "stp x21, x22, [{place}, 16]",
                "stp x23, x24, [{place}, 32]",
                "stp x25, x26, [{place}, 48]",
                "stp x27, x28, [{place}, 64]",
                stack = out(reg) stack,
                place = in(reg) place,
                options(nostack, preserves_flags),
            );
        }
        let _ = &mut stack;
        let _ = place;
        Frame { stack, registers }
    }
}

/// The states in which the program was.
#[derive(Default)]
pub struct Repeats(Mutex<States>);

#[derive(Default)]
struct States {
    known: Vec<u64>,
    /// Where the next state is kept.
    next: usize,
    /// The words that have come since the last call.
    heard: Checksum,
}

impl Repeats {
    /// The program calls; `is_new` is called if it is in a new state.
    #[cold]
    pub fn call(&self, frame: &Frame, is_new: impl FnOnce()) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum = std::mem::take(&mut states.heard);
        let Some(program) = Program::get().filter(|program| program.calls(frame.stack)) else {
            return is_new();
        };
        for register in frame.registers {
            sum.add(&register.to_ne_bytes());
        }
        let stack = (frame.stack, program.stack);
        for &(from, to) in std::iter::once(&stack).chain(&program.variables) {
            let place = std::ptr::with_exposed_provenance::<u8>(from);
            // SAFETY: mapped memory of the process; the thread that runs is the one that writes
            // there.
            sum.add(unsafe { std::slice::from_raw_parts(place, to - from) });
        }
        let sum = sum.value();
        if !states.known.contains(&sum) {
            is_new();
            if states.known.len() < STATES {
                states.known.push(sum);
            } else {
                let next = states.next;
                states.known[next] = sum;
                states.next = (next + 1) % STATES;
            }
        }
    }

    /// Records the words that a get or an atomic has brought.
    #[inline]
    pub fn hears(&self, report: &Report, bytes: &[u8]) {
        let Report::Ended(ended) = report else {
            return;
        };
        let word;
        let heard = match ended.end {
            EndKind::Fetched { word: found } => {
                word = found.to_ne_bytes();
                &word[..]
            }
            EndKind::Got => bytes,
            _ => return,
        };
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        states.heard.add(heard);
    }
}

/// Where the program's parts lie in memory.
#[derive(Default)]
struct Program {
    /// Where the first thread's stack begins and ends.
    lowest: usize,
    stack: usize,
    /// The program's static variables.
    variables: Vec<(usize, usize)>,
    /// Code in the program, and in all other objects but this one.
    code: Vec<(usize, usize)>,
    others: Vec<(usize, usize)>,
    /// How many objects have been seen.
    objects: usize,
}

/// Whether an instruction belongs to the program itself; false if that is unknown.
pub fn is_program(place: usize) -> bool {
    let parts = Program::get().map_or(&[][..], |program| &program.code);
    parts.iter().any(|&(from, to)| (from..to).contains(&place))
}

impl Program {
    /// The program; `None` if its state cannot be taken here.
    fn get() -> Option<&'static Program> {
        static FOUND: OnceLock<Option<Program>> = OnceLock::new();
        FOUND.get_or_init(Program::find).as_ref()
    }

    fn find() -> Option<Program> {
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return None;
        }
        let mut program = Program::default();
        // SAFETY: the function is called with what it is given here, before this returns.
        unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut program).cast()) };
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        let line = maps.lines().find(|line| line.ends_with("[stack]"))?;
        let (from, to) = line.split(' ').next()?.split_once('-')?;
        program.lowest = usize::from_str_radix(from, 16).ok()?.saturating_sub(MOST);
        program.stack = usize::from_str_radix(to, 16).ok()?;
        let length: usize = program.variables.iter().map(|(from, to)| to - from).sum();
        (length <= MOST).then_some(program)
    }

    /// Whether a call with this stack pointer comes from the program itself, in its first thread:
    /// the first return address on the stack, but for those to this library, is the program's.
    fn calls(&self, stack: usize) -> bool {
        const NEAR: usize = 512; // words in the entry point's frame, and more
        if !(self.lowest..self.stack).contains(&stack) || self.stack - stack > MOST {
            return false;
        }
        // A return address lies behind an instruction.
        let within = |parts: &[(usize, usize)], word: usize| {
            parts
                .iter()
                .any(|&(from, to)| (from + 8..to).contains(&word))
        };
        let words = ((self.stack - stack) / size_of::<usize>()).min(NEAR);
        let place = std::ptr::with_exposed_provenance::<usize>(stack);
        for at in 0..words {
            // SAFETY: a word of this thread's stack, which is aligned.
            let word = unsafe { place.add(at).read_volatile() };
            let own = within(&self.code, word);
            // SAFETY: it lies in code that is loaded, and so readable.
            if (own || within(&self.others, word)) && unsafe { follows_call(word) } {
                return own;
            }
        }
        false
    }
}

/// Whether an address in code is one to which a call returns: the instruction before it is a call.
///
/// # Safety
/// The eight bytes before the address must be readable.
unsafe fn follows_call(address: usize) -> bool {
    let place = std::ptr::with_exposed_provenance::<[u8; 8]>(address.wrapping_sub(8));
    // SAFETY: the caller's word.
    let code = unsafe { place.read_unaligned() };
    if cfg!(target_arch = "aarch64") {
        let word = u32::from_le_bytes([code[4], code[5], code[6], code[7]]);
        return word & 0xfc00_0000 == 0x9400_0000 || word & 0xffff_fc1f == 0xd63f_0000;
    }
    // By a 32-bit distance; or by a register or a memory word, in two to seven bytes.
    let indirect = |at: &usize| code[*at] == 0xff && code[at + 1] >> 3 & 7 == 2;
    code[3] == 0xe8 || (1..7).any(|at| indirect(&at))
}

/// Notes where an object lies; the first one is the program.
unsafe extern "C" fn collect(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    program: *mut c_void,
) -> c_int {
    // SAFETY: as `Program::find` calls it; the loader's list is that of an object that is loaded.
    let (base, headers, program) = unsafe {
        let object = &*object;
        let headers = std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into());
        (
            object.dlpi_addr as usize,
            headers,
            &mut *program.cast::<Program>(),
        )
    };
    let parts = |flag: u32| {
        let loaded = headers
            .iter()
            .filter(move |part| part.p_type == libc::PT_LOAD && part.p_flags & flag != 0);
        loaded.map(move |part| {
            let from = base + part.p_vaddr as usize;
            (from, from + part.p_memsz as usize)
        })
    };
    let own = collect as *const () as usize;
    let is_own = parts(libc::PF_X).any(|(from, to)| (from..to).contains(&own));
    if program.objects == 0 {
        program.code = parts(libc::PF_X).collect();
        program.variables = parts(libc::PF_W).collect();
    } else if !is_own {
        program.others.extend(parts(libc::PF_X));
    }
    program.objects += 1;
    0
}
