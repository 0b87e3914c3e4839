//! # Transaction packets from threads
//!
//! The thread processor sends packets with its own instructions (petrini2003 s2.1): up to
//! [`MOST_TRANSACTIONS`](crate::transaction::MOST_TRANSACTIONS) transactions, to one process. The
//! inputter takes such a packet as a whole:
//!
//! 1. The inputter translates every address. If one faults, the packet is permanently refused and
//!    has no effect.
//! 2. The inputter tests the conditions. If one fails, the answer is *test failed* and the packet
//!    has no effect.
//! 3. The inputter answers *accepted* and executes the other transactions, in order.
//!
//! A packet that finds no room in a queue is *discarded* before its conditions are tested, and sent
//! again as any refused packet.
//!
//! The answers to a packet for a node range are combined between steps 2 and 3, see
//! [`super::inputter::broadcast`].

use super::{AdapterEvent, Wires};
use crate::in_flight::{ThreadPacket, ThreadPacketNumber, Token};
use crate::transaction::Answer;
use fabric::{Ack, PacketSpec};

impl Wires<'_> {
    /// Hands a thread's packet to the network.
    pub fn offer_thread_packet(&mut self, token: ThreadPacketNumber) {
        let packet = self.flight.thread_packet(token);
        packet.lost = false;
        let data = packet.transactions.iter().map(|one| one.data());
        let destination = packet.destination();
        let spec = PacketSpec {
            source: packet.source,
            destination,
            flits: self.config.packet.flits_of(data),
            priority: packet.priority,
            traffic_class: packet.capability.traffic_class,
            awaits_end: destination.is_broadcast(),
            token: Token::Thread(token).of_share(packet.capability.share),
        };
        if spec.awaits_end {
            packet.result = None;
        }
        self.offer(spec);
    }

    /// Sends a thread's packet.
    pub fn send_thread_packet(&mut self, packet: ThreadPacket) -> ThreadPacketNumber {
        let token = self.flight.add_thread_packet(packet);
        self.offer_thread_packet(token);
        token
    }

    /// The answer to a thread's packet has arrived.
    pub fn thread_packet_answered(&mut self, token: ThreadPacketNumber, ack: Ack) {
        let packet = self.flight.thread_packet(token);
        match ack {
            Ack::Discarded => {
                let refusals = packet.refusals;
                packet.refusals += 1;
                if let Some(trouble) = &mut packet.trouble {
                    trouble.pass();
                }
                let at = self.now + self.config.adapter.retry_after(refusals);
                return self.schedule(at, AdapterEvent::Retried(self.node, Token::Thread(token)));
            }
            Ack::Corrupted | Ack::Unreachable | Ack::TimedOut => {
                if !self.refused_by_thread(token, ack) {
                    return;
                }
            }
            Ack::Accepted | Ack::TestFailed | Ack::Error => {}
        }
        let packet = self.flight.thread_packet(token);
        // The broadcast's destinations that object have already given the reason.
        packet.result.get_or_insert(Ok(Answer {
            passed: true,
            found: None,
        }));
        if let Some(done) = &packet.done {
            done.fire();
        } else {
            packet.taken = true;
            self.flight.drop_thread_packet_if_done(token);
        }
    }
}
