use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn what_is_written_is_read(
        words in any::<[u32; 5]>(),
        tag in any::<u64>(),
        size in any::<u32>(),
        here in any::<bool>(),
        synchronous in any::<bool>(),
        near in any::<bool>(),
        free in 0..1_u32 << MOST_TOLD,
        order in 0..ORDERS
    ) {
        let [source, sender, count, from, event] = words;
        let source = ProcessId::new(source);
        let (from, event) = (ElanAddr::new(from), ElanAddr::new(event));
        let size = Bytes::new(size.into());
        let envelope = Envelope {
            source, sender, tag, size, here, from, event, synchronous, near, free, order
        };
        let credit = Wire::Credit { from: source, count };
        let refused = Wire::Refused { by: source, event };
        for wire in [Wire::Envelope(envelope), credit, refused] {
            prop_assert_eq!(Wire::decode(&wire.encode()), wire);
        }
    }
}
