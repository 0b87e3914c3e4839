//! Moments and counts in 32 bits, around the places where they come round.

use super::*;
use crate::motion::flit::FlitMover;
use crate::{Config, FatTree};
use proptest::prelude::*;
use typed_index_collections::ti_vec;

proptest! {
    /// A moment names its cycle, as seen from any cycle less than 2^31 cycles away.
    #[test]
    fn a_moment_names_its_cycle(
        cycle in 1_u64 << 31..1 << 40,
        ahead in prop_oneof![-3_i64..3, 1 - (1_i64 << 31)..1 << 31],
    ) {
        let near = cycle.wrapping_add_signed(ahead);
        prop_assert_eq!(Moment::new(cycle).by(near), cycle);
    }

    /// A count is the sum of all additions, at any size, and touches no other count and no other
    /// link.
    #[test]
    fn a_count_is_a_sum(
        added in prop::collection::vec((0_u32..2, 0_usize..3, any::<u64>(), 20_u32..64), 0..60),
    ) {
        let config = Config::new(FatTree::new(&[2], &[], 2).expect("within all bounds"));
        let hops = ti_vec![Hop::default(); 2];
        let mut records = Records::new(&FlitMover::new(&config), Lanes::new(1), hops, TiVec::new());
        let counts = [Count::Packets, Count::Waited, Count::Delay, Count::Flits, Count::Tokens];
        let mut sums = [[0_u64; COUNTS]; 2];
        for (link, count, more, shift) in added {
            // Small ones, and ones that run over immediately.
            let more = more >> shift;
            let sums = &mut sums[link as usize];
            let link = LinkId::new(link);
            if count == 0 {
                records.count_packet(link, more, more / 2);
                sums[0] += 1;
                sums[1] += more;
                sums[2] += more / 2;
            } else {
                records.count(link, counts[2 + count], more);
                sums[2 + count] += more;
            }
        }
        for (link, sums) in (0..).map(LinkId::new).zip(sums) {
            prop_assert_eq!(counts.map(|count| records.counted(link, count)), sums);
        }
    }
}
