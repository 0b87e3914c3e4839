//! Events: pending operations, and whether they have ended.
//!
//! An event in the headers begins with a handle and three functions, so that programs may make
//! their own events, and link them with the library's. Behind that, this library's events have
//! their operations. `elan_wait` frees an event, and so does `elan_poll` when it reports that all
//! has ended. An operation that fails ends the process, as an exception in the library did.

use super::{complain, fail, hold, until, within};
use derive::call;
use native::{CallEnd, Ticket};
use std::collections::VecDeque;
use std::ffi::{c_int, c_long, c_void};
use std::ptr;
use std::sync::Mutex;

/// `ELAN_EVENT`, and this library's data behind it.
#[repr(C)]
pub struct ElanEvent {
    handle: *mut c_void,
    poll: Option<unsafe extern "C" fn(*mut ElanEvent, c_long) -> c_int>,
    wait: Option<unsafe extern "C" fn(*mut ElanEvent, c_long)>,
    free: Option<unsafe extern "C" fn(*mut ElanEvent)>,
    next: *mut ElanEvent,
    state: c_int,
    reserved: c_int,
    what: EventSubject,
}

/// The operations that an event in this library stands for.
pub enum EventSubject {
    /// No operation: it has occurred.
    Nothing,
    /// Operations, for errors by their call's name. Those that have ended are gone.
    Operations(&'static str, Vec<Ticket>),
    /// Two events.
    Both(*mut ElanEvent, *mut ElanEvent),
    /// Something that a module asks about by a function and a number, and that stays when it has
    /// occurred.
    Stays(fn(usize) -> bool, usize),
    /// A receive; see [`super::receive`].
    Receive(Box<super::receive::TportReceive>),
}

/// States, for programs that look at them.
const UNDER_WAY: c_int = 1;
const OCCURRED: c_int = 2;

impl ElanEvent {
    /// Makes an event.
    pub fn make(what: EventSubject) -> *mut ElanEvent {
        Box::into_raw(Box::new(ElanEvent {
            handle: ptr::null_mut(),
            poll: Some(own_poll),
            wait: Some(own_wait),
            free: Some(own_free),
            next: ptr::null_mut(),
            state: UNDER_WAY,
            reserved: 0,
            what,
        }))
    }

    /// An event for one operation.
    pub fn of(call: &'static str, ticket: Ticket) -> *mut ElanEvent {
        ElanEvent::make(EventSubject::Operations(call, vec![ticket]))
    }

    fn is_own(&self) -> bool {
        self.poll.is_some_and(|poll| {
            ptr::fn_addr_eq(
                poll,
                own_poll as unsafe extern "C" fn(*mut ElanEvent, c_long) -> c_int,
            )
        })
    }

    /// The receive that this event is.
    pub fn receive(&mut self) -> Option<&mut super::receive::TportReceive> {
        match &mut self.what {
            EventSubject::Receive(receive) if self.poll.is_some() => Some(receive),
            _ => None,
        }
    }

    /// The number that an event has if it stays.
    pub fn stays_at(&self) -> Option<usize> {
        match self.what {
            EventSubject::Stays(_, number) if self.is_own() => Some(number),
            _ => None,
        }
    }

    /// Whether the event has occurred; takes no time.
    ///
    /// # Safety
    /// Events that it links must be valid.
    pub unsafe fn has_occurred(&mut self) -> bool {
        let done = match &mut self.what {
            EventSubject::Nothing => true,
            EventSubject::Operations(call, tickets) => {
                tickets.retain(|&ticket| take_end(call, ticket).is_none());
                tickets.is_empty()
            }
            // SAFETY: the caller's word.
            &mut EventSubject::Both(one, other) => unsafe { occurred(one) && occurred(other) },
            &mut EventSubject::Stays(ask, number) => ask(number),
            EventSubject::Receive(receive) => receive.has_ended(),
        };
        if done {
            self.state = OCCURRED;
        }
        done
    }
}

/// An operation's end, if the process knows it; takes no time. An operation that fails ends the
/// process.
pub fn take_end(call: &str, ticket: Ticket) -> Option<CallEnd> {
    match native::ended(ticket)? {
        Ok(end) => {
            super::pending::over(ticket);
            Some(end)
        }
        Err(why) => fail(call, why),
    }
}

/// Waits until an operation has ended.
pub fn wait_for(call: &str, ticket: Ticket) -> CallEnd {
    let mut end = None;
    until(|| {
        end = take_end(call, ticket);
        end.is_some()
    });
    end.unwrap_or_default()
}

/// Whether an event by any maker has occurred.
///
/// # Safety
/// The event must be valid.
unsafe fn occurred(event: *mut ElanEvent) -> bool {
    // SAFETY: the caller's word.
    unsafe {
        if (*event).is_own() {
            return (*event).has_occurred();
        }
        (*event).poll.is_some_and(|poll| poll(event, 0) != 0)
    }
}

/// Frees an event by any maker.
///
/// # Safety
/// The event must be valid, and must not be used any more.
pub unsafe fn release(event: *mut ElanEvent) {
    // SAFETY: the caller's word.
    unsafe {
        if let Some(free) = (*event).free {
            free(event);
        }
    }
}

// The callers of the functions below keep to the headers.

unsafe extern "C" fn own_poll(event: *mut ElanEvent, how: c_long) -> c_int {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    c_int::from(within(how, || unsafe { (*event).has_occurred() }))
}

unsafe extern "C" fn own_wait(event: *mut ElanEvent, _how: c_long) {
    // SAFETY: an event that a call of this library has made, and that the program has not freed.
    until(|| unsafe { (*event).has_occurred() });
}

unsafe extern "C" fn own_free(event: *mut ElanEvent) {
    // SAFETY: an event that a call of this library has made, and that the program has not freed: it
    // goes back once, here, as `make` has leaked it, with the two events in it.
    unsafe {
        match (*event).what {
            EventSubject::Stays(..) => return,
            EventSubject::Both(one, other) => {
                release(one);
                release(other);
            }
            _ => (),
        }
        drop(Box::from_raw(event));
    }
}

/// An event that the program does not have.
fn missing(call: &str) -> c_int {
    complain(call, "there is no event");
    1
}

#[call]
unsafe extern "C" fn elan_poll(event: *mut ElanEvent, how: c_long) -> c_int {
    // SAFETY: null, or an event that a call of this library has made, and that the program has not
    // freed.
    unsafe {
        if event.is_null() {
            return missing("elan_poll");
        }
        let done = (*event).poll.map_or(1, |poll| poll(event, how));
        if done != 0 {
            release(event);
        }
        done
    }
}

#[call]
unsafe extern "C" fn elan_wait(event: *mut ElanEvent, how: c_long) {
    // SAFETY: null, or an event that a call of this library has made, and that the program has not
    // freed.
    unsafe {
        if event.is_null() {
            missing("elan_wait");
            return;
        }
        if let Some(wait) = (*event).wait {
            wait(event, how);
        }
        release(event);
    }
}

#[call]
unsafe extern "C" fn elan_done(event: *mut ElanEvent, how: c_long) -> c_int {
    // SAFETY: null, or an event that a call of this library has made, and that the program has not
    // freed.
    unsafe {
        if event.is_null() {
            return missing("elan_done");
        }
        (*event).poll.map_or(1, |poll| poll(event, how))
    }
}

#[unsafe(no_mangle)]
extern "C" fn elan_link(one: *mut ElanEvent, other: *mut ElanEvent) -> *mut ElanEvent {
    if one.is_null() || other.is_null() {
        return if one.is_null() { other } else { one };
    }
    ElanEvent::make(EventSubject::Both(one, other))
}

#[unsafe(no_mangle)]
extern "C" fn elan_nullEvent(_state: *mut super::layout::ElanState) -> *mut ElanEvent {
    ElanEvent::make(EventSubject::Nothing)
}

/// How many events with an end that the program has seen are kept, in case it still names them.
const KEPT: usize = 1024;

/// An event with an end that the program has seen by a call that leaves it: some programs then
/// forget it, others wait for it.
pub fn seen(event: *mut ElanEvent) {
    struct WaitingEvents(VecDeque<*mut ElanEvent>);
    // SAFETY: events belong to no thread.
    unsafe impl Send for WaitingEvents {}
    static SEEN: Mutex<WaitingEvents> = Mutex::new(WaitingEvents(VecDeque::new()));
    let all = &mut hold(&SEEN).0;
    if all.contains(&event) {
        return;
    }
    all.push_back(event);
    if all.len() > KEPT
        && let Some(old) = all.pop_front()
    {
        // SAFETY: the program has seen its end long ago.
        unsafe { release(old) };
    }
}
