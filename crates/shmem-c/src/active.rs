//! Sets of processing elements that call together: all elements, or an active set in OpenSHMEM 1.4.

use super::{check_running, fail};
use native::groups::{GroupNumber, group};
use std::ffi::c_int;

/// A set's members, including the caller.
pub struct Set {
    /// The members, in order.
    pub members: Vec<u32>,
    /// The caller's place among them.
    pub place: usize,
}

impl Set {
    /// All processing elements.
    pub fn all() -> Set {
        check_running();
        Set {
            members: (0..native::ranks()).collect(),
            place: native::rank() as usize,
        }
    }

    /// The active set with `size` processing elements from `start` on, 2 to the power of
    /// `log_stride` apart.
    pub fn active(start: c_int, log_stride: c_int, size: c_int) -> Set {
        check_running();
        let ranks = u64::from(native::ranks());
        let member = |index: u64, start: u64, log_stride: u32| start + (index << log_stride);
        let (Ok(first), Ok(log @ 0..32), Ok(count @ 1..)) = (
            u64::try_from(start),
            u32::try_from(log_stride),
            u64::try_from(size),
        ) else {
            fail(format_args!(
                "an active set from {start} on, with a stride of 2 to the power of {log_stride}, \
                of size {size}, has no members"
            ));
        };
        if member(count - 1, first, log) >= ranks {
            fail(format_args!(
                "the active set from {start} on, with a stride of 2 to the power of {log_stride}, \
                of size {size}, goes beyond the \
                 last processing element, {}",
                ranks - 1
            ));
        }
        let members = (0..count).map(|index| member(index, first, log) as u32);
        Set::of(members.collect(), format_args!("the active set"))
    }

    /// These members; ends the program if the caller is not a member.
    pub fn of(members: Vec<u32>, what: std::fmt::Arguments<'_>) -> Set {
        let me = native::rank();
        let Some(place) = members.iter().position(|&member| member == me) else {
            fail(format_args!("the caller is not a member of {what}"));
        };
        Set { members, place }
    }

    /// How many members there are.
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// The Elanlib group that serves the set.
    pub fn group(&self) -> GroupNumber {
        group(&self.members)
    }
}
