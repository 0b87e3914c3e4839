//! The lists against lists that are walked.

use super::*;
use crate::elan::tport::message::Room;
use elan::{ElanAddr, ProcessId};
use proptest::prelude::*;
use units::Bytes;

fn envelope(source: u32, sender: u32, tag: u64) -> Envelope {
    Envelope {
        source: ProcessId::new(source),
        sender,
        tag,
        size: Bytes::ZERO,
        here: true,
        from: ElanAddr::NOWHERE,
        event: ElanAddr::NOWHERE,
        synchronous: false,
        near: false,
        free: 0,
        order: 0,
    }
}

impl Addressed for Envelope {
    fn envelope(&self) -> &Envelope {
        self
    }
}

fn envelopes() -> impl Strategy<Value = Envelope> {
    (0..3_u32, 0..3_u32, 0..4_u64).prop_map(|(source, sender, tag)| envelope(source, sender, tag))
}

/// Selections with bits to which they do not look.
fn selects() -> impl Strategy<Value = Select> {
    let process = prop::option::of((0..3_u32).prop_map(ProcessId::new));
    let sender = (prop::sample::select(vec![0, 1, u32::MAX]), 0..3_u32);
    let tag = (prop::sample::select(vec![0, 1, 3, u64::MAX]), 0..4_u64);
    (process, sender, tag).prop_map(|(process, (sender_mask, sender), (tag_mask, tag))| Select {
        process,
        sender_mask,
        sender,
        tag_mask,
        tag,
    })
}

#[derive(Clone, Debug)]
enum Step {
    Post(Select, bool),
    TakeUp(prop::sample::Index),
    TakeOff(prop::sample::Index),
    Claim(bool, Envelope),
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (selects(), prop::bool::weighted(0.1)).prop_map(
            |(select, probes)| Step::Post(select, probes)
        ),
        5 => any::<prop::sample::Index>().prop_map(Step::TakeUp),
        1 => any::<prop::sample::Index>().prop_map(Step::TakeOff),
        3 => (any::<bool>(), envelopes()).prop_map(|(host, envelope)| Step::Claim(host, envelope)),
    ]
}

/// The walk that [`PostedQueue::claim`] replaces.
fn claimed_by_walk(
    posted: &mut Vec<(Rc<Receive>, bool)>,
    by: Searcher,
    envelope: &Envelope,
    tell: &mut Vec<Rc<Receive>>,
) -> (Option<Rc<Receive>>, u32) {
    let (mut place, mut compared) = (0, 0);
    while let Some((receive, taken_up)) = posted.get(place) {
        if by == Searcher::Host || *taken_up {
            compared += u32::from(*taken_up);
            if receive.takes(envelope) {
                let (receive, _) = posted.remove(place);
                if !receive.only_looks() {
                    return (Some(receive), compared);
                }
                tell.push(receive);
                continue;
            }
        }
        place += 1;
    }
    (None, compared)
}

fn same(one: &Rc<Receive>, other: &Rc<Receive>) -> bool {
    Rc::ptr_eq(one, other)
}

proptest! {
    #[test]
    fn the_first_receive_that_takes_a_message_is_claimed(
        steps in prop::collection::vec(steps(), 1..400)
    ) {
        let (mut posted, mut walked) = (PostedQueue::default(), Vec::<(Rc<Receive>, bool)>::new());
        // Receives that have left the list may be cancelled, too.
        let mut all = Vec::<Rc<Receive>>::new();
        for step in steps {
            match step {
                Step::Post(select, probes) => {
                    let room = if probes { Room::Probe } else { Room::System };
                    let receive = Rc::new(Receive::new(select, room));
                    posted.push(Rc::clone(&receive));
                    walked.push((Rc::clone(&receive), false));
                    all.push(receive);
                }
                Step::TakeUp(index) if !all.is_empty() => {
                    let receive = index.get(&all);
                    posted.take_up(receive);
                    let place = walked.iter_mut().find(|(other, _)| same(other, receive));
                    if let Some((_, taken_up)) = place {
                        *taken_up = true;
                    }
                }
                Step::TakeOff(index) if !all.is_empty() => {
                    let receive = index.get(&all);
                    let place = walked.iter().position(|(other, _)| same(other, receive));
                    if let Some(place) = place {
                        walked.remove(place);
                    }
                    prop_assert_eq!(posted.take_off(receive), place.is_some());
                }
                Step::TakeUp(_) | Step::TakeOff(_) => {}
                Step::Claim(host, envelope) => {
                    let by = if host { Searcher::Host } else { Searcher::Thread };
                    let (mut told, mut told_by_walk) = (Vec::new(), Vec::new());
                    let (found, compared) = posted.claim(by, &envelope, &mut told);
                    let (walk, steps) = claimed_by_walk(
                        &mut walked, by, &envelope, &mut told_by_walk
                    );
                    prop_assert_eq!(found.is_some(), walk.is_some());
                    prop_assert!(found.iter().zip(&walk).all(|(one, other)| same(one, other)));
                    prop_assert_eq!(told.len(), told_by_walk.len());
                    prop_assert!(
                        told.iter().zip(&told_by_walk).all(|(one, other)| same(one, other))
                    );
                    if by == Searcher::Thread {
                        prop_assert_eq!(compared, steps);
                    }
                }
            }
        }
    }

    #[test]
    fn a_receive_finds_the_first_message(
        steps in prop::collection::vec(
            (envelopes(), prop::option::weighted(0.6, selects()), any::<bool>()), 1..400
        ),
        looks in prop::collection::vec(selects(), 0..100),
    ) {
        let (mut waiting, mut walked) = (UnexpectedQueue::default(), Vec::<Envelope>::new());
        let comings = steps.into_iter().map(
            |(envelope, select, takes)| (Some(envelope), select, takes)
        );
        let rest = looks.into_iter().map(|select| (None, Some(select), true));
        for (order, (envelope, select, takes)) in comings.chain(rest).enumerate() {
            if let Some(envelope) = envelope {
                let envelope = Envelope { order: order as u32, ..envelope };
                waiting.push(envelope);
                walked.push(envelope);
            }
            let Some(select) = select else { continue };
            let receive = Receive::new(select, Room::System);
            let place = walked.iter().position(|envelope| receive.takes(envelope));
            let (number, compared) = waiting.first(&receive);
            prop_assert_eq!(compared as usize, place.map_or(walked.len(), |place| place + 1));
            prop_assert_eq!(
                number.map(|number| *waiting.get(number)), place.map(|place| walked[place])
            );
            if let (true, Some(number), Some(place)) = (takes, number, place) {
                prop_assert_eq!(waiting.remove(number), walked.remove(place));
            }
        }
    }
}
