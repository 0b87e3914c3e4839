//! # Patterns: the destinations of a job's messages
//!
//! A pattern gives each node in a job the destinations of its messages. In a *permutation*
//! (petrini2003 s4.4) every node has one partner. A permutation ranks the job's nodes from 0, by
//! node number. The paper's permutations compute on the rank's binary digits `a(n-1) ... a1 a0`:
//!
//! | pattern | partner of `a(n-1) ... a1 a0` | nodes |
//! |---|---|---|
//! | neighbor | the rank with `a0` inverted: 0 and 1, 2 and 3 | an even number |
//! | butterfly | `a0 a(n-2) ... a1 a(n-1)`: first and last digit exchanged | a power of two |
//! | complement | all digits inverted: N - 1 - rank for N ranks, also if N is not a power of two | any |
//! | shuffle | `a(n-2) ... a0 a(n-1)`: rotated left | a power of two |
//! | transpose | `a(n/2-1) ... a0 a(n-1) ... a(n/2)`: the halves exchanged | a power of four |
//! | bit-reversal | `a0 a1 ... a(n-1)`: digits in reverse order | a power of two |
//!
//! The others compute on the rank itself, and so take any node count N:
//!
//! | pattern | partner of a rank |
//! |---|---|
//! | shift K | rank + K modulo N |
//! | tornado | rank + ceil(N / 2) - 1 modulo N: nearly half way round, a ring's worst case (Dally and Towles, Principles and Practices of Interconnection Networks, table 3.1) |
//! | random K | a permutation drawn from number K; all permutations without a node that is its own partner are equally likely |
//!
//! The draws of `random` depend on K and N alone: a run has the same permutation with every seed,
//! and so have all machines in a comparison.
//!
//! The other patterns draw each message's destination, or fix it by other rules:
//!
//! * *uniform* (petrini2003 s4.3): any node in the job, all equally likely; if the job has servers,
//!   any server (petrini2003 s4.6: random I/O; with one server, s4.5: a hot-spot);
//! * *blocks* and *cyclic* (petrini2003 s4.6: deterministic I/O): each node keeps to one server.
//!   The paper leaves the choice open: blocks give the first server to the first nodes, and so on;
//!   cyclic deals the servers out in turn. A server that would get itself takes the next server, so
//!   that all nodes generate traffic (petrini2003 s4.6: shared I/O);
//! * *pairs*: any list with sources and destinations.
//!
//! No node sends to itself: a node never draws itself, and a node that is its own partner stays
//! silent (petrini2003 s5.4).

use elan::NodeId;
use kernel::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How a job's nodes choose their destinations. All but the last three names are also used in
/// experiment files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Rule")]
pub enum Pattern {
    /// A node or server drawn for each message.
    Uniform,
    /// Pairs: adjacent nodes.
    Neighbor,
    /// First and last binary digit exchanged.
    Butterfly,
    /// The rank from the other end.
    Complement,
    /// Binary digits rotated left.
    Shuffle,
    /// The halves of the binary digits exchanged.
    Transpose,
    /// Binary digits in reverse order.
    BitReversal,
    /// Nearly half way round.
    Tornado,
    /// One server per block of consecutive nodes.
    Blocks,
    /// Servers dealt out to the nodes in turn.
    Cyclic,
    /// The rank that is so much higher, modulo the rank count.
    #[serde(skip)]
    Shift(u32),
    /// The permutation that is drawn from this number.
    #[serde(skip)]
    Random(u32),
    /// Sources and destinations; a source with several destinations draws one for each message.
    #[serde(skip)]
    Pairs(Vec<(NodeId, NodeId)>),
}

/// The destinations of a node's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// The node is silent.
    None,
    /// Always to this node.
    One(NodeId),
    /// To any of these nodes, except the one at an index: the node itself.
    Any(Rc<[NodeId]>, Option<usize>),
}

impl Pattern {
    /// The pattern's name in the paper, and in experiment files.
    pub fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Pattern::Uniform => "uniform",
            Pattern::Neighbor => "neighbor",
            Pattern::Butterfly => "butterfly",
            Pattern::Complement => "complement",
            Pattern::Shuffle => "shuffle",
            Pattern::Transpose => "transpose",
            Pattern::BitReversal => "bit-reversal",
            Pattern::Blocks => "blocks",
            Pattern::Cyclic => "cyclic",
            Pattern::Tornado => "tornado",
            Pattern::Shift(by) => return format!("shift {by}").into(),
            Pattern::Random(number) => return format!("random {number}").into(),
            Pattern::Pairs(_) => "pairs",
        })
    }

    /// The node counts that the pattern admits, in words; `None` if it admits any.
    pub fn needs(&self) -> Option<&'static str> {
        match self {
            Pattern::Neighbor => Some("an even number of nodes"),
            Pattern::Transpose => Some("a power of four of nodes"),
            Pattern::Butterfly | Pattern::Shuffle | Pattern::BitReversal => {
                Some("a power of two of nodes")
            }
            _ => None,
        }
    }

    /// Whether the pattern admits this node count.
    pub fn admits(&self, count: u32) -> bool {
        match self {
            Pattern::Neighbor => count.is_multiple_of(2),
            Pattern::Transpose => {
                count.is_power_of_two() && count.trailing_zeros().is_multiple_of(2)
            }
            _ => self.needs().is_none() || count.is_power_of_two(),
        }
    }

    /// Whether the pattern needs servers or can use them.
    pub fn serves(&self) -> bool {
        matches!(self, Pattern::Uniform) || self.needs_servers()
    }

    /// Whether there must be servers.
    pub fn needs_servers(&self) -> bool {
        matches!(self, Pattern::Blocks | Pattern::Cyclic)
    }

    /// All ranks' partners in a permutation of `count` ranks, a number that the permutation admits;
    /// `None` if the pattern is not a permutation.
    pub fn partners(&self, count: u32) -> Option<Vec<u32>> {
        // A single node's rank has no digits: the node is its own partner.
        let digits = count.trailing_zeros();
        let last = count / 2;
        let shifted = |rank, by| ((u64::from(rank) + u64::from(by)) % u64::from(count)) as u32;
        let partner = |rank: u32| match self {
            Pattern::Neighbor => rank ^ 1,
            Pattern::Butterfly => {
                let ends = last | 1;
                let equal = rank & ends == 0 || rank & ends == ends;
                if equal { rank } else { rank ^ ends }
            }
            Pattern::Complement => count - 1 - rank,
            Pattern::Shuffle => (rank << 1 | u32::from(rank & last != 0)) & (count - 1),
            Pattern::Transpose => (rank << (digits / 2) | rank >> (digits / 2)) & (count - 1),
            Pattern::BitReversal => rank.reverse_bits().checked_shr(32 - digits).unwrap_or(0),
            Pattern::Tornado => shifted(rank, count.div_ceil(2) - 1),
            Pattern::Shift(by) => shifted(rank, *by),
            _ => unreachable!("no rule for the partner of one rank"),
        };
        match self {
            Pattern::Uniform | Pattern::Blocks | Pattern::Cyclic | Pattern::Pairs(_) => None,
            Pattern::Random(number) => Some(drawn(*number, count)),
            _ => Some((0..count).map(partner).collect()),
        }
    }

    /// The destinations of each node's messages. Nodes and servers are in ascending order; the
    /// pattern must admit the node count.
    pub fn destinations(&self, nodes: &[NodeId], servers: &[NodeId]) -> Vec<Destinations> {
        let count = nodes.len() as u32;
        let any: Rc<[NodeId]> = if servers.is_empty() { nodes } else { servers }.into();
        let mut listed: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        if let Pattern::Pairs(pairs) = self {
            for &(source, destination) in pairs.iter().filter(|(from, to)| from != to) {
                listed.entry(source).or_default().push(destination);
            }
        }
        let partners = self.partners(count).unwrap_or_default();
        let of = |(rank, &node): (usize, &NodeId)| match self {
            Pattern::Uniform => {
                let own = any.binary_search(&node).ok();
                Destinations::of(&any, own, node)
            }
            Pattern::Blocks => {
                Destinations::served(servers, rank * servers.len() / nodes.len(), node)
            }
            Pattern::Cyclic => Destinations::served(servers, rank % servers.len(), node),
            Pattern::Pairs(_) => {
                let own = listed.get(&node).map_or(&[][..], Vec::as_slice);
                Destinations::of(&own.into(), None, node)
            }
            _ => Destinations::one(nodes[partners[rank] as usize], node),
        };
        nodes.iter().enumerate().map(of).collect()
    }
}

/// The permutation over `count` ranks for a seed number. Shuffles are drawn until no rank is its
/// own partner, which takes e = 2.7 shuffles in the mean.
fn drawn(number: u32, count: u32) -> Vec<u32> {
    let mut stream = Stream::fixed(number.into(), "permutation");
    let mut partners: Vec<u32> = (0..count).collect();
    loop {
        // Fisher and Yates: each remaining rank is equally likely to come next.
        for place in (1..count as usize).rev() {
            let other = stream.uniform_u64(0..place as u64 + 1) as usize;
            partners.swap(place, other);
        }
        // A single rank has no other partner.
        if count < 2
            || partners
                .iter()
                .zip(0..)
                .all(|(&partner, rank)| partner != rank)
        {
            return partners;
        }
    }
}

impl Destinations {
    fn one(destination: NodeId, node: NodeId) -> Self {
        if destination == node {
            Destinations::None
        } else {
            Destinations::One(destination)
        }
    }

    /// The server at an index, or the one after it if the node is that server itself.
    fn served(servers: &[NodeId], index: usize, node: NodeId) -> Self {
        let next = (index + 1) % servers.len();
        let server = if servers[index] == node { next } else { index };
        Destinations::one(servers[server], node)
    }

    /// Any candidate but the node itself, which is at the index `own`.
    fn of(candidates: &Rc<[NodeId]>, own: Option<usize>, node: NodeId) -> Self {
        match candidates[..] {
            [] => Destinations::None,
            [only] => Destinations::one(only, node),
            _ => Destinations::Any(Rc::clone(candidates), own),
        }
    }

    /// Whether there are no destinations.
    pub fn is_none(&self) -> bool {
        *self == Destinations::None
    }

    /// The next message's destination.
    ///
    /// # Panics
    /// If there is no destination.
    pub fn draw(&self, stream: &mut Stream) -> NodeId {
        match self {
            Destinations::None => panic!("a silent node sends nothing"),
            Destinations::One(node) => *node,
            Destinations::Any(nodes, own) => {
                let others = nodes.len() - usize::from(own.is_some());
                let draw = stream.uniform_u64(0..others as u64) as usize;
                nodes[draw + usize::from(own.is_some_and(|own| draw >= own))]
            }
        }
    }
}
