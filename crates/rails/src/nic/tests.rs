//! Control messages on the wire.

use super::super::protocol::{Control, ControlMessage, ControlPacket, Request};
use super::{NodeId, decode, encode};

/// Decoding an encoded message returns every field to the last bit.
#[test]
fn every_message_survives_its_packet() {
    let numbers = [0, 1, 1 << 40, u64::MAX];
    let counters = [0, 1, -1, i32::MAX, i32::MIN];
    for (node, number) in [0, 7, u32::MAX].into_iter().zip(numbers) {
        let node = NodeId::new(node);
        let request = Request { node, number };
        let mut messages = vec![
            ControlMessage::LocalRts { request, to: node },
            ControlMessage::LocalAck(request),
            ControlMessage::LocalAbort(request),
        ];
        for counter in counters {
            let packet = |control| ControlPacket {
                control,
                request,
                counter,
            };
            let controls = [
                Control::Rts,
                Control::Cts,
                Control::Nack,
                Control::Ack,
                Control::Abort,
            ];
            let remote = controls.map(packet).map(|packet| ControlMessage::Remote {
                from: NodeId::new(u32::MAX - 1),
                packet,
            });
            messages.extend(remote);
        }
        for message in messages {
            for failures in [0, 1, (1 << 24) - 1] {
                assert_eq!(decode(&encode(message, failures)), (message, failures));
            }
        }
    }
}
