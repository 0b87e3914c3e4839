//! The reservation protocol of dynamic rail allocation (coll2003 s4.2): every cell of its tables, all interleavings of small
//! networks, the livelock of figure 6 with and without the procedure, and random networks in which every request must be
//! granted.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ELANITE_RAIL_SEED` | seed of the first random network; the next have the next numbers | 0 |
//! | `ELANITE_RAIL_CASES` | how many | 10,000 |

mod cells;
mod cycles;
mod explore;
mod network;
mod random;
