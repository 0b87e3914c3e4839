use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn what_is_written_is_read(words: [u32; 5], size: u64, here: bool, synchronous: bool) {
        let [source, sender, tag, from, event] = words;
        let (from, event) = (ElanAddr::new(from), ElanAddr::new(event));
        let size = Bytes::new(size);
        let envelope = Envelope { source, sender, tag, size, here, from, event, synchronous };
        let credit = Wire::Credit { from: source, count: tag };
        let refused = Wire::Refused { by: source, event };
        for wire in [Wire::Envelope(envelope), credit, refused] {
            prop_assert_eq!(Wire::decode(&wire.encode()), wire);
        }
    }
}
