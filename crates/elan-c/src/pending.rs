//! Puts and gets that are under way.

use super::hold;
use native::Ticket;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Pending puts with events that the program has.
pub static PUTS: Mutex<BTreeSet<Ticket>> = Mutex::new(BTreeSet::new());
/// The same for gets.
pub static GETS: Mutex<BTreeSet<Ticket>> = Mutex::new(BTreeSet::new());

/// An operation is over, and its end was taken.
pub fn over(ticket: Ticket) {
    if !hold(&PUTS).remove(&ticket) {
        hold(&GETS).remove(&ticket);
    }
}
