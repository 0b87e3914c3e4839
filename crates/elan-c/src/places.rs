//! Capabilities, and where processes are.
//!
//! A process's *context* is the first user context plus its place among its node's processes. One
//! capability describes the run; the functions answer from the run, regardless of the capability
//! that they get.

use super::layout::{ElanCapability, ElanLocation};
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::fmt::Write;

/// The first context of programs.
const FIRST_CONTEXT: c_int = 0x400;
/// The value in an unfilled capability.
const UNINITIALISED: c_int = -1;
/// `ELAN_CAP_TYPE_BLOCK`, `_CYCLIC`, `_NO_BITMAP`, `_MULTI_RAIL`, `_BROADCASTABLE`.
const BLOCK: c_uint = 1;
const CYCLIC: c_uint = 2;
const NO_BITMAP: c_uint = 0x20;
const MULTI_RAIL: c_uint = 0x40;
const BROADCASTABLE: c_uint = 0x80;

/// The variable by which the starter passes the machine's rail count.
const RAILS_VARIABLE: &str = "RMS_RAILS";

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// The machine's rails.
pub fn rails() -> c_int {
    variable(RAILS_VARIABLE).unwrap_or(1)
}

/// A queue's longest slot: a packet's payload, 320 bytes on Elan3 and 2,048 on Elan4.
pub fn longest_slot() -> c_int {
    variable(link::SLOT_VARIABLE).unwrap_or(320)
}

/// A node's processes, in order.
pub fn on_node(node: u32) -> impl Iterator<Item = u32> {
    (0..native::ranks()).filter(move |&vp| native::node_of(vp) == node)
}

/// A process's place among its node's processes.
fn place(vp: u32) -> usize {
    on_node(native::node_of(vp))
        .take_while(|&other| other < vp)
        .count()
}

/// The most processes on a node.
pub fn most_local() -> usize {
    let all = (0..native::ranks()).map(|vp| place(vp) + 1);
    all.max().unwrap_or(1)
}

/// The run's capability.
pub fn capability() -> ElanCapability {
    let ranks = native::ranks();
    let nodes = || (0..ranks).map(native::node_of);
    let in_order = nodes().is_sorted();
    let adjacent = nodes()
        .max()
        .zip(nodes().min())
        .map(|(last, first)| last - first + 1);
    let mut used: Vec<u32> = nodes().collect();
    used.sort_unstable();
    used.dedup();
    let broadcastable = adjacent == Some(used.len() as u32);
    let kind = if in_order { BLOCK } else { CYCLIC };
    let multi = if rails() > 1 { MULTI_RAIL } else { 0 };
    ElanCapability {
        userkey: [0; 4],
        version: 1,
        kind: kind | NO_BITMAP | multi | if broadcastable { BROADCASTABLE } else { 0 },
        lowcontext: FIRST_CONTEXT,
        highcontext: FIRST_CONTEXT + most_local() as c_int - 1,
        mycontext: FIRST_CONTEXT + place(native::rank()) as c_int,
        lownode: used.first().map_or(0, |&node| node as c_int),
        highnode: used.last().map_or(0, |&node| node as c_int),
        railmask: (1 << rails()) - 1,
        bitmap: [0; 16],
    }
}

/// Whether a text is a capability: letters, each with numbers behind it, `N` and `C` and `R` among
/// them.
fn is_capability(text: &str) -> bool {
    let known =
        |letter: char| letter.is_ascii_digit() || letter == '-' || "NCRbcB".contains(letter);
    text.chars().all(known) && "NCR".chars().all(|letter| text.contains(letter))
}

fn location(vp: u32) -> ElanLocation {
    if vp >= native::ranks() {
        return ElanLocation {
            node: 0xffff,
            context: -1,
        };
    }
    ElanLocation {
        node: native::node_of(vp) as c_int,
        context: FIRST_CONTEXT + place(vp) as c_int,
    }
}

// The callers of the functions below keep to the headers.

/// A function under its names in Elanlib and in Elan3lib.
macro_rules! both {
    ($($elan:ident $elan3:ident ($($name:ident: $kind:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $elan($($name: $kind),*) $(-> $result)? $body

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $elan3($($name: $kind),*) $(-> $result)? {
                // SAFETY: the same arguments, for the same function.
                unsafe { $elan($($name),*) }
            }
        )*
    };
}

both! {
    elan_nullcap elan3_nullcap(cap: *mut ElanCapability) {
        let empty = ElanCapability {
            userkey: [UNINITIALISED.cast_unsigned(); 4],
            version: 1,
            kind: 0,
            lowcontext: UNINITIALISED,
            highcontext: UNINITIALISED,
            mycontext: UNINITIALISED,
            lownode: UNINITIALISED,
            highnode: UNINITIALISED,
            railmask: 1,
            bitmap: [0; 16],
        };
        if !cap.is_null() {
            // SAFETY: not null, so a place for a capability.
            unsafe { cap.write(empty) };
        }
    }

    elan_capability_string elan3_capability_string(
        cap: *mut ElanCapability, text: *mut c_char
    ) -> *mut c_char {
        // SAFETY: null, or a capability of the program.
        let Some(cap) = (unsafe { cap.as_ref() }) else {
            return text;
        };
        let mut words = String::new();
        let _ = write!(
            words,
            "N{}-{} C{}-{}-{} R{:b} type {:#x}",
            cap.lownode, cap.highnode, cap.lowcontext, cap.mycontext, cap.highcontext,
            cap.railmask, cap.kind
        );
        // SAFETY: the program has room for the text, as the call demands.
        unsafe {
            text.copy_from_nonoverlapping(words.as_ptr().cast(), words.len());
            text.add(words.len()).write(0);
        }
        text
    }

    elan_nvps elan3_nvps(_cap: *mut ElanCapability) -> c_int {
        native::ranks() as c_int
    }

    elan_nlocal elan3_nlocal(node: c_int, _cap: *mut ElanCapability) -> c_int {
        on_node(node.cast_unsigned()).count() as c_int
    }

    elan_maxlocal elan3_maxlocal(_cap: *mut ElanCapability) -> c_int {
        most_local() as c_int
    }

    elan_localvps elan3_localvps(
        node: c_int, _cap: *mut ElanCapability, vps: *mut c_int, size: c_int
    ) -> c_int {
        let room = usize::try_from(size).unwrap_or(0);
        let mut count = 0;
        for (index, vp) in on_node(node.cast_unsigned()).take(room).enumerate() {
            // SAFETY: the program has room for `size` numbers, and `index` is below.
            unsafe { vps.add(index).write(vp as c_int) };
            count += 1;
        }
        count
    }

    elan_nrails elan3_nrails(_cap: *mut ElanCapability) -> c_int {
        rails()
    }

    elan_rails elan3_rails(_cap: *mut ElanCapability, numbers: *mut c_int) -> c_int {
        for rail in 0..rails() {
            // SAFETY: the program has room for a number for each rail.
            unsafe { numbers.add(rail as usize).write(rail) };
        }
        rails()
    }

    elan_vp2location elan3_vp2location(vp: c_uint, _cap: *mut ElanCapability) -> ElanLocation {
        location(vp)
    }

    elan_location2vp elan3_location2vp(there: ElanLocation, _cap: *mut ElanCapability) -> c_int {
        let found = on_node(there.node.cast_unsigned()).find(
            |&vp| location(vp).context == there.context
        );
        found.map_or(0xffff, |vp| vp as c_int)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_getenvCap(cap: *mut ElanCapability, rail: c_int) -> c_int {
    if cap.is_null() || rail < 0 || rail >= rails() {
        return -1;
    }
    // SAFETY: not null, so a place for a capability.
    unsafe { cap.write(capability()) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn elan_generateCapability(text: *const c_char) -> c_int {
    if text.is_null() {
        return -1;
    }
    // SAFETY: not null, so a string of C.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    if is_capability(&text) { 0 } else { -1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_known_by_their_form() {
        assert!(is_capability("N3C1024-1025-1030N0-7R1b"));
        assert!(!is_capability("N3C1024"));
        assert!(!is_capability("three nodes"));
    }
}
