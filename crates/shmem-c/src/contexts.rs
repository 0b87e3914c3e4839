//! Contexts: their pending operations, and the calls that wait for them.
//!
//! A context is a number that the program holds as a pointer: 0 is no context, 1 the default one.
//! The options exclude uses of a context; they have no effect here.

use super::members::{WORLD, members};
use super::{check_running, fail, fail_in, own, shmem};
use derive::call;
use native::{CallEnd, OperationFailure, Ticket};
use rank::thread;
use std::collections::VecDeque;
use std::ffi::{c_int, c_long, c_void};

/// The default context (`SHMEM_CTX_DEFAULT`).
pub const DEFAULT: usize = 1;

/// How many operations may have ended unseen before a new one looks after the oldest.
const UNSEEN: usize = 64;

/// An operation that the program has begun and not waited for.
#[derive(Clone, Copy)]
pub struct PendingOperation {
    pub ticket: Ticket,
    /// The call's number.
    call: u32,
    pe: u32,
    at: usize,
    /// Where the program wants an atomic operation's old word, and how many bytes.
    old_word: Option<(usize, usize)>,
}

impl PendingOperation {
    /// An operation that the present call has begun.
    pub fn new(ticket: Ticket, pe: u32, at: usize) -> PendingOperation {
        let call = thread::current().call.get();
        PendingOperation {
            ticket,
            call,
            pe,
            at,
            old_word: None,
        }
    }

    /// The operation; its end stores the old word in the program's memory.
    pub fn storing(self, place: *mut c_void, size: usize) -> PendingOperation {
        PendingOperation {
            old_word: Some((place.expose_provenance(), size)),
            ..self
        }
    }

    /// Waits for the end; an error ends the program.
    pub fn finish(self) -> CallEnd {
        self.judge(native::wait(self.ticket))
    }

    fn judge(self, end: Result<CallEnd, OperationFailure>) -> CallEnd {
        let end = end.unwrap_or_else(|failure| {
            let PendingOperation { call, pe, at, .. } = self;
            fail_in(
                call,
                format_args!(
                    "the access to address {at:#x} of processing element {pe} has failed: {failure}"
                ),
            )
        });
        if let Some((place, size)) = self.old_word {
            let place: *mut c_void = std::ptr::with_exposed_provenance_mut(place);
            own(place, size).store(0, &end.word.to_le_bytes()[..size]);
        }
        end
    }
}

/// A context that the program has made.
struct Context {
    /// The team with the numbers that the context's calls use.
    team: usize,
    begun: VecDeque<PendingOperation>,
}

/// The pending operations of contexts, by number.
#[derive(Default)]
pub struct Contexts {
    default: VecDeque<PendingOperation>,
    /// From the number after [`DEFAULT`] on; `None` where a context has been destroyed.
    others: Vec<Option<Context>>,
}

impl Contexts {
    pub const EMPTY: Contexts = Contexts {
        default: VecDeque::new(),
        others: Vec::new(),
    };

    fn create(&mut self, team: usize) -> usize {
        let free = self.others.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.others.push(None);
            self.others.len() - 1
        });
        let begun = VecDeque::new();
        self.others[place] = Some(Context { team, begun });
        place + DEFAULT + 1
    }

    fn other(&mut self, context: usize) -> Option<&mut Option<Context>> {
        self.others.get_mut(context.checked_sub(DEFAULT + 1)?)
    }

    fn get(&mut self, context: usize) -> Option<&mut VecDeque<PendingOperation>> {
        if context == DEFAULT {
            return Some(&mut self.default);
        }
        Some(&mut self.other(context)?.as_mut()?.begun)
    }

    fn team_of(&mut self, context: usize) -> Option<usize> {
        if context == DEFAULT {
            return Some(WORLD);
        }
        Some(self.other(context)?.as_ref()?.team)
    }
}

/// Makes a team's context.
pub fn create(team: usize) -> usize {
    check_running();
    shmem().contexts.create(team)
}

/// A context's team, if there is such a context.
pub fn team_of(context: usize) -> Option<usize> {
    shmem().contexts.team_of(context)
}

/// Destroys a team's contexts.
pub fn destroy_those_of(team: usize) {
    let all: Vec<usize> = {
        let contexts = &shmem().contexts.others;
        let mine = contexts
            .iter()
            .enumerate()
            .filter(|(_, context)| context.as_ref().is_some_and(|context| context.team == team));
        mine.map(|(place, _)| place + DEFAULT + 1).collect()
    };
    for context in all {
        destroy(context);
    }
}

fn destroy(context: usize) {
    quiet(context);
    if let Some(place) = shmem().contexts.other(context) {
        *place = None;
    }
}

/// Calls a function on a context's pending operations; ends the program if there is no such
/// context.
fn with<T>(context: usize, what: impl FnOnce(&mut VecDeque<PendingOperation>) -> T) -> T {
    if let Some(begun) = shmem().contexts.get(context) {
        return what(begun);
    }
    fail(format_args!("there is no such context"))
}

/// The processing element with a number that the program has named, in a context's team.
pub fn element(context: usize, pe: c_int) -> u32 {
    if context == DEFAULT {
        return super::element(pe);
    }
    check_running();
    let members = team_of(context).and_then(members);
    let members = members.unwrap_or_else(|| fail(format_args!("there is no such context")));
    let pe_there = usize::try_from(pe).ok().and_then(|pe| members.get(pe));
    *pe_there.unwrap_or_else(|| {
        fail(format_args!(
            "there is no processing element {pe} in the team of the context; the last one is {}",
            members.len() - 1
        ))
    })
}

/// A context has begun an operation, which the next [`quiet`] waits for.
pub fn add(context: usize, begun: PendingOperation) {
    let oldest = with(context, |all| {
        all.push_back(begun);
        let ended = all.len() > UNSEEN && native::has_ended(all[0].ticket);
        if ended { all.pop_front() } else { None }
    });
    if let Some(oldest) = oldest {
        oldest.finish();
    }
}

/// Waits for all that a context has under way.
pub fn quiet(context: usize) {
    for begun in with(context, std::mem::take) {
        begun.finish();
    }
}

#[call]
extern "C" fn shmem_ctx_create(options: c_long, context: *mut usize) -> c_int {
    let _ = options;
    if context.is_null() {
        fail(format_args!("the place for the context is a null pointer"));
    }
    let new = create(WORLD);
    // SAFETY: the program's place for a context.
    unsafe { context.write(new) };
    0
}

#[call]
extern "C" fn shmem_ctx_destroy(context: usize) {
    if context == DEFAULT {
        fail(format_args!("the default context cannot be destroyed"));
    }
    if context != 0 {
        destroy(context);
    }
}

#[call]
extern "C" fn shmem_quiet() {
    quiet(DEFAULT);
}

#[call]
extern "C" fn shmem_fence() {
    quiet(DEFAULT);
}

#[call("shmem_quiet")]
extern "C" fn shmem_ctx_quiet(context: usize) {
    quiet(context);
}

#[call("shmem_fence")]
extern "C" fn shmem_ctx_fence(context: usize) {
    quiet(context);
}
