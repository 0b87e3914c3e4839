//! The state of a run as its ranks know it: the key-value space, barriers, and published names.

use crate::space::Edition;
use crate::wire::{KEY, Rank, Reply, Request, VALUE};
use std::collections::{BTreeMap, HashMap};

/// The most bytes that the key-value space of a run holds, for each rank.
const SHARE: usize = 1 << 16;

/// A key that MPICH reads though no rank has put it: how ranks lie on hosts. All are on this one.
const MAPPING: &str = "PMI_process_mapping";

/// How far a rank has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The rank has sent no request.
    Started,
    /// The rank has an MPI library, which has begun to speak.
    Initialised,
    /// The rank will ask for nothing more.
    Finalized,
}

/// The state of a run. See the essay of the module.
#[derive(Debug)]
pub struct Manager {
    name: String,
    phases: Vec<Phase>,
    space: HashMap<String, String>,
    /// The bytes of keys and values.
    bytes: usize,
    /// What ranks read, and whether it lacks values.
    edition: Edition,
    is_old: bool,
    /// Ranks that wait, by the group of their barrier.
    barriers: BTreeMap<String, Vec<Rank>>,
    /// Whether all ranks have met once.
    has_started: bool,
    published: HashMap<String, String>,
}

impl Manager {
    /// A run of so many ranks, whose key-value space has this name. Ranks read it from `edition`.
    pub fn new(ranks: u32, name: String, edition: Edition) -> Self {
        Manager {
            name,
            phases: vec![Phase::Started; ranks as usize],
            space: HashMap::new(),
            bytes: 0,
            edition,
            is_old: false,
            barriers: BTreeMap::new(),
            has_started: false,
            published: HashMap::new(),
        }
    }

    fn ranks(&self) -> u32 {
        self.phases.len() as u32
    }

    /// How far a rank has come.
    pub fn phase(&self, rank: Rank) -> Phase {
        self.phases[rank as usize]
    }

    /// Ranks that wait for the first barrier of all ranks, in `MPI_Init`.
    pub fn waiting_to_start(&self) -> impl Iterator<Item = Rank> {
        let all = self.barriers.get("").filter(|_| !self.has_started);
        all.into_iter().flatten().copied()
    }

    /// Takes a request of a rank, and gives replies to this rank and others. Returns the code of a
    /// rank that ends all ranks.
    pub fn take(
        &mut self,
        rank: Rank,
        request: Request,
        mut reply: impl FnMut(Rank, Reply),
    ) -> Option<i32> {
        let answer = match request {
            Request::Init => {
                self.phases[rank as usize] = Phase::Initialised;
                Reply::Init
            }
            Request::Maxes => Reply::Maxes,
            Request::ApplicationNumber => Reply::ApplicationNumber,
            Request::UniverseSize => Reply::UniverseSize(self.ranks()),
            Request::SpaceName => Reply::SpaceName(self.name.clone()),
            Request::Put { key, value } => Reply::Put(self.put(key, value)),
            Request::Get { key } => Reply::Get(self.get(&key)),
            Request::Barrier { group } => {
                self.enter(rank, &group, reply);
                return None;
            }
            Request::Finalize => {
                self.phases[rank as usize] = Phase::Finalized;
                Reply::Finalize
            }
            Request::Abort { code } => return Some(code),
            Request::Publish { service, port } => {
                let is_new = !self.published.contains_key(&service);
                if is_new {
                    self.published.insert(service, port);
                }
                Reply::Publish(is_new.then_some(()).ok_or("already_published"))
            }
            Request::Unpublish { service } => {
                let was = self.published.remove(&service);
                Reply::Unpublish(was.map(drop).ok_or("not_published"))
            }
            Request::LookUp { service } => Reply::LookUp(self.published.get(&service).cloned()),
            Request::Spawn => Reply::Spawn("a_simulated_run_has_the_ranks_of_its_start"),
        };
        reply(rank, answer);
        None
    }

    fn put(&mut self, key: String, value: String) -> Result<(), &'static str> {
        if key.len() >= KEY || value.len() >= VALUE {
            return Err("too_long");
        }
        let bytes = key.len() + value.len();
        if self.bytes + bytes > SHARE * self.phases.len() {
            return Err("the_space_is_full");
        }
        self.bytes += bytes;
        self.is_old = true;
        self.space.insert(key, value);
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        if key == MAPPING {
            return Some(format!("(vector,(0,1,{}))", self.ranks()));
        }
        self.space.get(key).cloned()
    }

    /// A rank enters a barrier. The last one lets all ranks of the group out.
    fn enter(&mut self, rank: Rank, group: &str, mut reply: impl FnMut(Rank, Reply)) {
        let ranks = members(group).unwrap_or(self.ranks());
        let waiting = self.barriers.entry(group.to_owned()).or_default();
        waiting.push(rank);
        if waiting.len() as u32 >= ranks {
            self.has_started |= group.is_empty();
            // If it fails, the edition lacks values, for which ranks ask.
            if self.is_old && self.edition.write(&self.space).is_ok() {
                self.is_old = false;
            }
            for rank in self.barriers.remove(group).unwrap_or_default() {
                reply(rank, Reply::BarrierOut);
            }
        }
    }
}

/// How many ranks a group has; none if it has all. A group is a list of ranks, with a tag behind it.
fn members(group: &str) -> Option<u32> {
    let list = group.split(':').next().unwrap_or_default();
    let listed = list.starts_with(|first: char| first.is_ascii_digit());
    listed.then(|| list.split(',').count() as u32)
}
