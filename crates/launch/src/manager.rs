//! A run's state as its ranks know it: worlds, each with a key-value space and barriers; and
//! published names.
//!
//! The ranks that start together are a *world*. The run begins with one; a rank starts another one
//! by `MPI_Comm_spawn`. Ranks have numbers in the run, which begin at the number of the first rank
//! in each world.

use crate::space::Edition;
use crate::spawn::Spawn;
use crate::wire::{KEY, RankNumber, RankRequest, Reply, VALUE};
use std::collections::{BTreeMap, HashMap};

/// The most bytes that a world's key-value space holds, for each rank.
const SHARE: usize = 1 << 16;

/// A key that MPICH reads though no rank has put it: how ranks lie on hosts. All are on this one.
const MAPPING: &str = "PMI_process_mapping";

/// A key that MPICH reads though no rank has put it: the memory kinds that the user requests.
const KINDS: &str = "PMI_mpi_memory_alloc_kinds";

/// How far a rank has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessPhase {
    /// The rank has sent no request.
    Started,
    /// The rank has an MPI library, which has begun to speak.
    Initialised,
    /// The rank makes no more requests.
    Finalized,
}

/// A request's effect on the processes.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// All ranks end with this code.
    Abort(i32),
    /// More ranks start, from this number on; see [`Manager::world`].
    Start(RankNumber, Spawn),
    /// Ranks that have places in the simulation cannot start, for this reason.
    Fail(&'static str),
}

/// Ranks that start together.
#[derive(Debug)]
pub struct RankWorld {
    /// The first rank's number in the run.
    pub first: RankNumber,
    /// How many ranks there are.
    pub ranks: u32,
    /// The key-value space's name.
    pub name: String,
    space: HashMap<String, String>,
    /// The bytes of all keys and values.
    bytes: usize,
    /// The edition that ranks read, and whether it lacks values.
    pub edition: Edition,
    is_old: bool,
    /// Ranks that wait, by their barrier's group.
    barriers: BTreeMap<String, Vec<RankNumber>>,
    /// Whether all ranks have met once.
    has_started: bool,
}

impl RankWorld {
    fn new(first: RankNumber, ranks: u32, name: String, edition: Edition) -> Self {
        RankWorld {
            first,
            ranks,
            name,
            space: HashMap::new(),
            bytes: 0,
            edition,
            is_old: false,
            barriers: BTreeMap::new(),
            has_started: false,
        }
    }

    fn put(&mut self, key: String, value: String) -> Result<(), &'static str> {
        if key.len() >= KEY || value.len() >= VALUE {
            return Err("too_long");
        }
        let bytes = key.len() + value.len();
        if self.bytes + bytes > SHARE * self.ranks as usize {
            return Err("the_space_is_full");
        }
        self.bytes += bytes;
        self.is_old = true;
        self.space.insert(key, value);
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        if key == MAPPING {
            return Some(format!("(vector,(0,1,{}))", self.ranks));
        }
        self.space.get(key).cloned()
    }

    /// A rank enters a barrier. The last one lets all ranks in the group out.
    fn enter(&mut self, rank: RankNumber, group: &str, mut reply: impl FnMut(RankNumber, Reply)) {
        let ranks = members(group).unwrap_or(self.ranks);
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

    /// Ranks that wait for the first barrier over all ranks, in `MPI_Init`.
    fn waiting_to_start(&self) -> &[RankNumber] {
        let all = self.barriers.get("").filter(|_| !self.has_started);
        all.map_or(&[], Vec::as_slice)
    }
}

/// A rank.
#[derive(Debug)]
struct Member {
    /// Its world's place.
    world: usize,
    phase: ProcessPhase,
    /// Its program's number in the world.
    application: u32,
    /// The first rank that it starts next.
    places: Option<RankNumber>,
}

/// A run's state. See the module's essay.
#[derive(Debug)]
pub struct Manager {
    /// How many ranks there may be in all.
    room: u32,
    worlds: Vec<RankWorld>,
    members: BTreeMap<RankNumber, Member>,
    published: HashMap<String, String>,
    /// The memory kinds that the user requests of MPI.
    pub kinds: Option<String>,
}

impl Manager {
    /// A run that begins with this many ranks and a key-value space with this name, and has room
    /// for `room` ranks. Ranks read the space from `edition`.
    pub fn new(ranks: u32, room: u32, name: String, edition: Edition) -> Self {
        let mut manager = Manager {
            room,
            worlds: Vec::new(),
            members: BTreeMap::new(),
            published: HashMap::new(),
            kinds: None,
        };
        let world = RankWorld::new(0, ranks, name, edition);
        manager.add(world, std::iter::repeat_n(0, ranks as usize));
        manager
    }

    fn add(&mut self, world: RankWorld, applications: impl Iterator<Item = u32>) {
        let member = |application| Member {
            world: self.worlds.len(),
            phase: ProcessPhase::Started,
            application,
            places: None,
        };
        let members = (world.first..).zip(applications.map(member));
        self.members.extend(members);
        self.worlds.push(world);
    }

    fn member(&self, rank: RankNumber) -> &Member {
        &self.members[&rank]
    }

    fn member_mut(&mut self, rank: RankNumber) -> &mut Member {
        self.members.get_mut(&rank).expect("a rank of the run")
    }

    /// A rank's world.
    pub fn world(&self, rank: RankNumber) -> &RankWorld {
        &self.worlds[self.member(rank).world]
    }

    fn world_mut(&mut self, rank: RankNumber) -> &mut RankWorld {
        let world = self.member(rank).world;
        &mut self.worlds[world]
    }

    /// How far a rank has come.
    pub fn phase(&self, rank: RankNumber) -> ProcessPhase {
        self.member(rank).phase
    }

    /// Ranks that wait for their world's first barrier, in `MPI_Init`.
    pub fn waiting_to_start(&self) -> impl Iterator<Item = RankNumber> {
        let waiting = self.worlds.iter().flat_map(RankWorld::waiting_to_start);
        waiting.copied()
    }

    /// Whether others wait in `MPI_Init` for a rank.
    pub fn is_late(&self, rank: RankNumber) -> bool {
        let waiting = self.world(rank).waiting_to_start();
        !waiting.is_empty() && !waiting.contains(&rank)
    }

    /// Takes a rank's request, and gives replies to this rank and others. Returns the effect on
    /// processes.
    pub fn take(
        &mut self,
        rank: RankNumber,
        request: RankRequest,
        mut reply: impl FnMut(RankNumber, Reply),
    ) -> Option<Effect> {
        let answer = match request {
            RankRequest::Init => {
                self.member_mut(rank).phase = ProcessPhase::Initialised;
                Reply::Init
            }
            RankRequest::Maxes => Reply::Maxes,
            RankRequest::ApplicationNumber => {
                Reply::ApplicationNumber(self.member(rank).application)
            }
            RankRequest::UniverseSize => Reply::UniverseSize(self.room),
            RankRequest::SpaceName => Reply::SpaceName(self.world(rank).name.clone()),
            RankRequest::Put { key, value } => Reply::Put(self.world_mut(rank).put(key, value)),
            RankRequest::Get { key } if key == KINDS => Reply::Get(self.kinds.clone()),
            RankRequest::Get { key } => Reply::Get(self.world(rank).get(&key)),
            RankRequest::Barrier { group } => {
                self.world_mut(rank).enter(rank, &group, reply);
                return None;
            }
            RankRequest::Finalize => {
                self.member_mut(rank).phase = ProcessPhase::Finalized;
                Reply::Finalize
            }
            RankRequest::Abort { code } => return Some(Effect::Abort(code)),
            RankRequest::Publish { service, port } => {
                let is_new = !self.published.contains_key(&service);
                if is_new {
                    self.published.insert(service, port);
                }
                Reply::Publish(is_new.then_some(()).ok_or("already_published"))
            }
            RankRequest::Unpublish { service } => {
                let was = self.published.remove(&service);
                Reply::Unpublish(was.map(drop).ok_or("not_published"))
            }
            RankRequest::LookUp { service } => Reply::LookUp(self.published.get(&service).cloned()),
            RankRequest::Places { first } => {
                self.member_mut(rank).places = Some(first);
                return None;
            }
            RankRequest::Spawn(spawn) => {
                let Some(first) = self.member_mut(rank).places.take() else {
                    let why = "there_is_no_room:_elanite_mpirun_--universe_N";
                    reply(rank, Reply::Spawn(Err(why)));
                    return None;
                };
                let started = self.start(first, &spawn);
                return Some(started.map_or_else(Effect::Fail, |()| Effect::Start(first, spawn)));
            }
        };
        reply(rank, answer);
        None
    }

    /// Begins a world with places in the simulation from this number on.
    fn start(&mut self, first: RankNumber, spawn: &Spawn) -> Result<(), &'static str> {
        let ranks = spawn.ranks();
        let is_free = |rank| rank < self.room && !self.members.contains_key(&rank);
        if !(first..first.saturating_add(ranks)).all(is_free) {
            return Err("their places are taken");
        }
        let edition = Edition::new().map_err(|_| "there are too many open files")?;
        let name = format!("{}_{first}", self.worlds[0].name);
        let mut world = RankWorld::new(first, ranks, name, edition);
        for (key, value) in &spawn.values {
            world.put(key.clone(), value.clone())?;
        }
        let parts = (0..).zip(&spawn.parts);
        let applications =
            parts.flat_map(|(number, part)| std::iter::repeat_n(number, part.ranks as usize));
        self.add(world, applications);
        Ok(())
    }
}

/// How many ranks a group has; `None` if it has all. A group is a rank list, with a tag behind it.
fn members(group: &str) -> Option<u32> {
    let list = group.split(':').next().unwrap_or_default();
    let listed = list.starts_with(|first: char| first.is_ascii_digit());
    listed.then(|| list.split(',').count() as u32)
}
