//! The reservation protocol for dynamic rail allocation (coll2003 s4.2): every cell in its tables,
//! all interleavings in small networks, figure 6's livelock with and without the procedure, and
//! random networks in which every request must be granted.
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
