//! Sent messages that are not yet confirmed. They identify an arriving message and check its bytes.
//!
//! A message crosses the simulated network under a number that the simulator gives it. The MPI
//! library's additions to the message stay here, so the simulator identifies an arriving message
//! even if others have overtaken it. Beside that lie the checksum that the sender's library has
//! given, which goes to the receiver's library, and the bytes themselves. If the receiver's library
//! has stored other bytes, the first wrong one is found by these. The bytes go when the receiver
//! has taken its next turn without a complaint, and the rest goes when no look by this receiver can
//! find the message any more.

use crate::endpoint::MessageNumber;
use crate::trace::{MessageRow, Trace, tagged};
use slab::Slab;
use std::cell::RefCell;
use std::rc::Rc;

/// Why bytes may change.
const WHOSE: &str = "this is a defect of Elanite, unless something in the process of a rank has \
    overwritten \
    the memory that \
                     ranks and simulator share";

/// A message on its way.
pub(crate) struct SentMessage {
    /// The message's place in the trace.
    pub record: usize,
    /// The message's completion data: the MPI library's addition to it.
    pub data: Option<u32>,
    /// The checksum that the sender's library has computed, or 0 without a comparison.
    pub checksum: u64,
    /// The bytes that were sent, if there is a checksum.
    bytes: Option<Rc<Vec<u8>>>,
}

/// All messages on their way.
#[derive(Default)]
pub(crate) struct MessagesInFlight(RefCell<Slab<SentMessage>>);

impl MessagesInFlight {
    /// A message has been sent.
    pub fn send(
        &self,
        record: usize,
        data: Option<u32>,
        checksum: u64,
        bytes: &Rc<Vec<u8>>,
    ) -> MessageNumber {
        let mut all = self.0.borrow_mut();
        let number = all.insert(SentMessage {
            record,
            data,
            checksum,
            bytes: (checksum != 0).then(|| Rc::clone(bytes)),
        });
        MessageNumber(u32::try_from(number).expect("fewer messages at a time"))
    }

    /// A message's data.
    pub fn get<R>(&self, number: MessageNumber, of: impl FnOnce(&SentMessage) -> R) -> R {
        of(&self.0.borrow()[number.0 as usize])
    }

    /// The receiver has the bytes that were sent.
    pub fn confirm(&self, number: MessageNumber) {
        self.0.borrow_mut()[number.0 as usize].bytes = None;
    }

    /// The message is no longer needed.
    pub fn forget(&self, number: MessageNumber) {
        self.0.borrow_mut().remove(number.0 as usize);
    }

    /// The error text for a message with bytes that a rank has stored wrongly.
    pub fn complaint(&self, trace: &Trace, wrong: &PayloadDifference) -> String {
        let all = self.0.borrow();
        let sent = match wrong {
            PayloadDifference::Stored(number, _) => all.get(number.0 as usize),
            PayloadDifference::Given(rank, size) => {
                return format!(
                    "rank {rank} gave a payload of {size} that reached the simulator with another \
                    checksum; {WHOSE}"
                );
            }
        };
        let (Some(sent), PayloadDifference::Stored(_, stored)) = (sent, wrong) else {
            return "a rank complains of a message that nobody sent".to_string();
        };
        let MessageRow {
            kind,
            source,
            destination,
            bytes: size,
            tag,
            ..
        } = trace.messages[sent.record];
        let given = sent.bytes.as_ref().map_or(&[][..], |bytes| &bytes[..]);
        let place = given.iter().zip(stored).position(|(a, b)| a != b);
        let place = place.or((given.len() != stored.len()).then(|| given.len().min(stored.len())));
        let place = match place {
            Some(place) => format!("the first wrong byte is at {place}"),
            None => {
                "its checksum is another one, and its bytes are those that the simulator has".into()
            }
        };
        format!(
            "rank {destination} has stored other bytes than rank {source} sent: {} message of \
            {size}{}: {place}; {WHOSE}",
            kind.name(),
            tagged(tag),
        )
    }
}

/// Bytes that differ from those that were sent.
pub(crate) enum PayloadDifference {
    /// The message bytes that a rank has stored.
    Stored(MessageNumber, Vec<u8>),
    /// The rank from which a payload came, and the payload's length.
    Given(u32, units::Bytes),
}
