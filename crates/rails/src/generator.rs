//! Rails that are picked when a message is generated, before the messages before it have been sent
//! (coll2003 s5.2).
//!
//! A process blocks while it sends, so that its messages wait. Under [`Choice::Generated`] the
//! local-dynamic algorithm runs when a message is generated, and the status that it reads is as old
//! as the wait by the time when the message is sent. A message source asks the process's
//! [`Generator`], and hands the rails to [`Process::put_over`]. A message without rails, and bytes
//! that a failed rail has lost, take rails that the policy picks when they are sent.
//!
//! [`Process::put_over`]: super::Process::put_over

use super::host::Host;
use super::policy::stripes;
use super::turn::SharedTurn;
use elan::Rail;
use elan::config::rails::{Choice, Knowledge};
use std::rc::Rc;
use units::Bytes;

/// Picks rails for the messages that a process will send.
pub struct Generator {
    host: Rc<Host>,
    /// The process's turn, which is also the turn of the rails picked when a message is sent.
    turn: SharedTurn,
}

impl Generator {
    /// A process's generator, if its policy picks rails in advance.
    pub(super) fn new(host: &Rc<Host>, turn: &SharedTurn) -> Option<Self> {
        let config = host.config();
        let reads = config.policy.knows == Knowledge::Status;
        let picks = reads && config.choice == Choice::Generated;
        picks.then(|| Generator {
            host: Rc::clone(host),
            turn: Rc::clone(turn),
        })
    }

    /// The rails for a message that is generated now; empty if no rail is free.
    pub fn pick(&self, size: Bytes) -> Vec<Rail> {
        let free = self.host.free();
        let count = stripes(self.host.config(), free.len(), size);
        self.turn.borrow_mut().take(&free, count)
    }
}
