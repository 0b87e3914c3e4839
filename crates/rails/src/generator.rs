//! Rails that are picked when a message is generated, before the messages before it have been sent (coll2003 s5.2).
//!
//! A process blocks while it sends, so that its messages wait. Under [`Choice::Generated`] the local-dynamic algorithm runs when a
//! message is generated, and the status that it reads is as old as the wait by the time when the message is sent. A source of
//! messages asks the [`Generator`] of the process, and hands the rails to [`Process::put_over`]. A message without rails, and
//! what a failed rail has lost, takes rails that the policy picks when it is sent.
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
    /// The turn of the process, which is also that of the rails that are picked when a message is sent.
    turn: SharedTurn,
}

impl Generator {
    /// The generator of a process, if its policy picks rails in advance.
    pub(super) fn new(host: &Rc<Host>, turn: &SharedTurn) -> Option<Self> {
        let config = host.config();
        let reads = config.policy.knows == Knowledge::Status;
        let picks = reads && config.choice == Choice::Generated;
        picks.then(|| Generator {
            host: Rc::clone(host),
            turn: Rc::clone(turn),
        })
    }

    /// The rails of a message that is generated now; empty if no rail is free.
    pub fn pick(&self, size: Bytes) -> Vec<Rail> {
        let free = self.host.free();
        let count = stripes(self.host.config(), free.len(), size);
        self.turn.borrow_mut().take(&free, count)
    }
}
