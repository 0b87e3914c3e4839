//! Receive and message queues, with entries found by sender and tag.
//!
//! A queue is a list in posting or arrival order, and the thread on the adapter compares an
//! envelope with one entry after the other (module `thread`). The simulator needs two results from
//! a search: the first entry that fits, and the number of entries with which the thread has
//! compared the envelope, which takes simulated time. Both are found here without the list being
//! walked, so that a queue of n messages takes the host n log n and not n².
//!
//! Entries have numbers in their order ([`Line`]), and a sum tree counts the entries before a
//! number. Receives that look at the same bits in an envelope have the same [`Masks`]. Under its
//! masks, an envelope becomes the one [`Select`] that equals the selections of the receives that
//! take it. MPI has four masks: with and without a source, and with and without a tag. Each further
//! one takes its own search.

use super::message::Select;
use super::receive::Receive;
use super::wire::Envelope;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A queue with fewer messages is walked.
const SHORT: usize = 16;
/// Masks by which a message queue is sorted; receives with further masks walk it.
const MOST_MASKS: usize = 8;

/// The parts of an envelope that a receive looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Masks {
    process: bool,
    sender: u32,
    tag: u64,
}

impl Masks {
    fn of(select: Select) -> Self {
        Masks {
            process: select.process.is_some(),
            sender: select.sender_mask,
            tag: select.tag_mask,
        }
    }

    /// The selection that receives with these masks have if they take a message.
    fn of_message(self, envelope: &Envelope) -> Select {
        Select {
            process: self.process.then_some(envelope.source),
            sender_mask: self.sender,
            sender: envelope.sender & self.sender,
            tag_mask: self.tag,
            tag: envelope.tag & self.tag,
        }
    }
}

/// The same selection, without bits to which it does not look.
fn plain(select: Select) -> Select {
    Select {
        sender: select.sender & select.sender_mask,
        tag: select.tag & select.tag_mask,
        ..select
    }
}

/// Entries with numbers in order of arrival. Some entries count.
struct Line<T> {
    entries: Vec<Option<T>>,
    /// At i, counted entries with the numbers from i + 1 less its lowest bit, to i (P. Fenwick,
    /// 1994).
    sums: Vec<u32>,
    present: usize,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Line {
            entries: Vec::new(),
            sums: Vec::new(),
            present: 0,
        }
    }
}

const fn lowest_bit(number: usize) -> usize {
    number & number.wrapping_neg()
}

impl<T> Line<T> {
    /// Adds an entry at the end: its number is the entry count so far.
    fn push(&mut self, entry: T, counts: bool) {
        let number = self.entries.len();
        let (end, mut sum) = (number + 1, u32::from(counts));
        let (first, mut at) = (end - lowest_bit(end), number);
        while at > first {
            sum += self.sums[at - 1];
            at -= lowest_bit(at);
        }
        self.entries.push(Some(entry));
        self.sums.push(sum);
        self.present += 1;
    }

    fn get(&self, number: usize) -> Option<&T> {
        self.entries.get(number).and_then(Option::as_ref)
    }

    /// Takes an entry off the line.
    fn remove(&mut self, number: usize, counted: bool) -> T {
        if counted {
            self.add(number, u32::wrapping_sub(0, 1));
        }
        self.present -= 1;
        let entry = self.entries[number].take().expect("it is in the line");
        if self.present == 0 {
            self.entries.clear();
            self.sums.clear();
        }
        entry
    }

    /// Adds to a number's count.
    fn add(&mut self, number: usize, value: u32) {
        let mut at = number + 1;
        while at <= self.sums.len() {
            self.sums[at - 1] = self.sums[at - 1].wrapping_add(value);
            at += lowest_bit(at);
        }
    }

    /// Counted entries with smaller numbers.
    fn counted_before(&self, number: usize) -> u32 {
        let (mut at, mut sum) = (number, 0);
        while at > 0 {
            sum += self.sums[at - 1];
            at -= lowest_bit(at);
        }
        sum
    }

    /// All counted entries.
    fn counted(&self) -> u32 {
        self.counted_before(self.entries.len())
    }

    /// Empties the line and returns its entries, if most numbers stand for entries that have left.
    fn thinned(&mut self) -> Option<Vec<Option<T>>> {
        let thin = self.entries.len() > 2 * self.present + SHORT;
        thin.then(|| std::mem::take(self).entries)
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let numbered = self.entries.iter().enumerate();
        numbered.filter_map(|(number, entry)| Some((number, entry.as_ref()?)))
    }
}

/// The end that searches a receive list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Searcher {
    /// The thread on the adapter, which has only the receives that it has taken up.
    Thread,
    Host,
}

/// Receives without a message, in posting order.
#[derive(Default)]
pub(super) struct PostedQueue {
    line: Line<(Rc<Receive>, bool)>,
    /// Selection, whether the thread has the receive, and number.
    sorted: BTreeSet<(Select, bool, usize)>,
    /// Receives with each mask.
    masks: Vec<(Masks, u32)>,
}

impl PostedQueue {
    /// Adds a receive, which the thread has not taken up.
    pub fn push(&mut self, receive: Rc<Receive>) {
        self.add(receive, false);
    }

    fn add(&mut self, receive: Rc<Receive>, taken_up: bool) {
        let select = plain(receive.select);
        let number = self.line.entries.len();
        receive.number.set(number);
        self.sorted.insert((select, taken_up, number));
        let masks = Masks::of(select);
        match self.masks.iter_mut().find(|(other, _)| *other == masks) {
            Some((_, receives)) => *receives += 1,
            None => self.masks.push((masks, 1)),
        }
        self.line.push((receive, taken_up), taken_up);
    }

    /// Whether the thread has a receive in the list, if it is there.
    fn place(&self, receive: &Rc<Receive>) -> Option<(usize, bool)> {
        let number = receive.number.get();
        let (other, taken_up) = self.line.get(number)?;
        Rc::ptr_eq(other, receive).then_some((number, *taken_up))
    }

    /// The thread has taken up a receive.
    pub fn take_up(&mut self, receive: &Rc<Receive>) {
        if let Some((number, false)) = self.place(receive) {
            let select = plain(receive.select);
            self.line.entries[number] = Some((Rc::clone(receive), true));
            self.line.add(number, 1);
            self.sorted.remove(&(select, false, number));
            self.sorted.insert((select, true, number));
        }
    }

    /// Takes a receive off the list, because a message has been found for it or it is to end;
    /// returns whether it was there.
    pub fn take_off(&mut self, receive: &Rc<Receive>) -> bool {
        let place = self.place(receive);
        if let Some((number, _)) = place {
            self.remove(number);
        }
        place.is_some()
    }

    fn remove(&mut self, number: usize) -> Rc<Receive> {
        let counted = self.line.get(number).is_some_and(|entry| entry.1);
        let (receive, _) = self.line.remove(number, counted);
        let select = plain(receive.select);
        self.sorted.remove(&(select, counted, number));
        let masks = Masks::of(select);
        self.masks.retain_mut(|(other, receives)| {
            *receives -= u32::from(*other == masks);
            *receives > 0
        });
        if let Some(entries) = self.line.thinned() {
            self.sorted.clear();
            self.masks.clear();
            for (receive, taken_up) in entries.into_iter().flatten() {
                self.add(receive, taken_up);
            }
        }
        receive.matched.set(true);
        receive
    }

    /// The number of the first receive that takes a message.
    fn first(&self, by: Searcher, envelope: &Envelope) -> Option<usize> {
        let first_of = |select: Select, taken_up: bool| {
            let all = (select, taken_up, 0)..=(select, taken_up, usize::MAX);
            self.sorted.range(all).next().map(|&(.., number)| number)
        };
        let selects = self
            .masks
            .iter()
            .map(|(masks, _)| masks.of_message(envelope));
        let firsts = selects.filter_map(|select| match by {
            Searcher::Thread => first_of(select, true),
            Searcher::Host => {
                let both = [true, false].map(|taken_up| first_of(select, taken_up));
                both.into_iter().flatten().min()
            }
        });
        firsts.min()
    }

    /// Takes the first receive that takes a message off the list. Probes before it that would take
    /// the message leave the list, too, and come into `tell`. Returns also with how many receives
    /// the thread compares the message.
    pub fn claim(
        &mut self,
        by: Searcher,
        envelope: &Envelope,
        tell: &mut Vec<Rc<Receive>>,
    ) -> (Option<Rc<Receive>>, u32) {
        let told = tell.len();
        let mut seen = 0;
        while let Some(number) = self.first(by, envelope) {
            let compared = self.line.counted_before(number) + 1 + seen;
            let receive = self.remove(number);
            if !receive.only_looks() {
                return (Some(receive), compared);
            }
            tell.push(receive);
            seen = (tell.len() - told) as u32;
        }
        (None, self.line.counted() + seen)
    }
}

/// A message with an envelope.
pub(super) trait Addressed {
    fn envelope(&self) -> &Envelope;
}

/// Messages without a receive, in order of arrival.
pub(super) struct UnexpectedQueue<M> {
    line: Line<M>,
    /// Masks of receives that have looked for a message, and the selections that take the list's
    /// messages, with their numbers. Made at the first look, where the list is not short.
    masks: Vec<Masks>,
    sorted: BTreeSet<(Select, usize)>,
}

impl<M> Default for UnexpectedQueue<M> {
    fn default() -> Self {
        UnexpectedQueue {
            line: Line::default(),
            masks: Vec::new(),
            sorted: BTreeSet::new(),
        }
    }
}

impl<M: Addressed> UnexpectedQueue<M> {
    /// Adds a message.
    pub fn push(&mut self, message: M) {
        for masks in &self.masks {
            let select = masks.of_message(message.envelope());
            self.sorted.insert((select, self.line.entries.len()));
        }
        self.line.push(message, true);
    }

    /// The number of the first message that a receive takes, if there is one, and with how many
    /// messages the thread compares the receive.
    pub fn first(&mut self, receive: &Receive) -> (Option<usize>, u32) {
        let number = if self.is_sorted(Masks::of(receive.select)) {
            let select = plain(receive.select);
            let mut all = self.sorted.range((select, 0)..=(select, usize::MAX));
            all.next().map(|&(_, number)| number)
        } else {
            let mut all = self.line.iter();
            let first = all.find(|(_, message)| receive.takes(message.envelope()));
            first.map(|(number, _)| number)
        };
        let compared = match number {
            Some(number) => self.line.counted_before(number) + 1,
            None => self.line.counted(),
        };
        (number, compared)
    }

    /// Whether the messages are sorted by masks; sorts them if this pays.
    fn is_sorted(&mut self, masks: Masks) -> bool {
        if self.masks.contains(&masks) {
            return true;
        }
        if self.line.present <= SHORT || self.masks.len() == MOST_MASKS {
            return false;
        }
        for (number, message) in self.line.iter() {
            let select = masks.of_message(message.envelope());
            self.sorted.insert((select, number));
        }
        self.masks.push(masks);
        true
    }

    /// A message by its number.
    pub fn get(&self, number: usize) -> &M {
        self.line.get(number).expect("it has been found")
    }

    /// Takes a message off the list.
    pub fn remove(&mut self, number: usize) -> M {
        let message = self.line.remove(number, true);
        for masks in &self.masks {
            let select = masks.of_message(message.envelope());
            self.sorted.remove(&(select, number));
        }
        if self.line.present == 0 {
            self.masks.clear();
        }
        if let Some(messages) = self.line.thinned() {
            self.masks.clear();
            self.sorted.clear();
            for message in messages.into_iter().flatten() {
                self.line.push(message, true);
            }
        }
        message
    }
}

#[cfg(test)]
mod tests;
