//! Runs a program on a simulated cluster.

use crate::collective::{Outcome, SPANS, area};
use crate::common::{cluster, job, logs, me, pattern, pid, store};
use crate::draw::{BOARDS, PHASE, Phase, Program, Step};
use elan::{ElanAddr, ProcessId};
use libelan::Pe;
use libelan::elan::group::Group;
use libelan::elan::putget::Remote;
use libelan::elan::tport::{Mode, Room, Rx, Select, Tx};
use std::rc::Rc;
use units::{Bytes, Time};

/// What a process found.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    pub process: usize,
    pub phase: usize,
    pub step: usize,
    pub found: Found,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Message {
        sender: u32,
        tag: u64,
        bytes: Vec<u8>,
    },
    Bytes(Vec<u8>),
    Collective(Outcome),
    /// Its boards, after all phases.
    Boards([Vec<u8>; 2]),
}

/// Plays a program; returns what its processes found, or why it came to no end.
pub fn play(program: &Program) -> Result<Vec<Note>, String> {
    play_closely(program).map(|(notes, _)| notes)
}

/// Plays a program; returns also the digest of all packets.
pub fn play_closely(program: &Program) -> Result<(Vec<Note>, String), String> {
    let mut cluster = cluster(&program.config);
    for &(rail, at, pause) in &program.failures {
        cluster.fail_rail(rail, at);
        cluster.repair_rail(rail, at + pause);
    }
    let job = job(&program.places);
    let [notes, told] = logs();
    // The processes outlive the borrow, not the run.
    let phases: Rc<[Phase]> = program.phases.clone().into();
    let rounds: Rc<[Vec<Vec<u32>>]> = program.rounds.clone().into();
    let launched = job
        .waiting(program.waits)
        .launch(&mut cluster, async move |pe| {
            let player = Player::new(pe, &rounds).await;
            for (number, phase) in phases.iter().enumerate() {
                for (step, found) in player.play(phase).await {
                    told.note(player.note(number, step, found));
                }
                player.meet(number as u32).await;
            }
            let boards = [0, 1].map(|board| player.load(player.boards[board], BOARDS[board]));
            told.note(player.note(phases.len(), 0, Found::Boards(boards)));
        });
    launched.map_err(|error| error.to_string())?;
    cluster.run().map_err(|error| error.to_string())?;
    cluster.check_conservation();
    let notes = notes.borrow().clone();
    Ok((notes, cluster.digest()))
}

/// What was started and is to be waited for.
enum Begun {
    Send(Tx, ElanAddr),
    Receive(Rx, Option<ElanAddr>),
    Put(Remote, ElanAddr),
    Get(Remote, ElanAddr, u64),
}

struct Player {
    pe: Pe,
    boards: [ElanAddr; 2],
    /// Where collective calls have their places.
    area: [ElanAddr; 2],
    /// The groups that the process is in.
    groups: Vec<Option<Group>>,
}

impl Player {
    async fn new(pe: Pe, rounds: &[Vec<Vec<u32>>]) -> Self {
        let elan = pe.elan();
        let main = |length| elan.galloc_main(64, length).unwrap();
        let adapter = |length| elan.galloc_elan(64, length).unwrap();
        let boards = [main(Bytes::new(BOARDS[0])), adapter(Bytes::new(BOARDS[1]))];
        let area = [main(area(SPANS[0])), adapter(area(SPANS[1]))];
        let mut groups = vec![Some(elan.all_group().clone())];
        for round in rounds {
            // Who is in none names any.
            let mine = round.iter().find(|members| members.contains(&me(&pe)));
            let members = mine.unwrap_or(&round[0]).iter().copied().map(pid);
            let members: Vec<ProcessId> = members.collect();
            let made = elan.group(elan.all_group(), &members).await;
            let made = made.unwrap();
            let own = |members| made.clone().filter(|_| Some(members) == mine);
            groups.extend(round.iter().map(own));
        }
        Player {
            pe,
            boards,
            area,
            groups,
        }
    }

    fn note(&self, phase: usize, step: usize, found: Found) -> Note {
        Note {
            process: me(&self.pe) as usize,
            phase,
            step,
            found,
        }
    }

    fn load(&self, at: ElanAddr, length: u64) -> Vec<u8> {
        let bytes = self.pe.elan3().load(at, Bytes::new(length));
        bytes.unwrap().into_vec()
    }

    fn buffer(&self, length: u64, adapter: bool) -> ElanAddr {
        let (elan3, length) = (self.pe.elan3(), Bytes::new(length));
        let at = if adapter {
            elan3.alloc_elan(8, length)
        } else {
            elan3.alloc_main(8, length)
        };
        at.unwrap()
    }

    fn filled(&self, seed: u64, length: u64, adapter: bool) -> ElanAddr {
        let at = self.buffer(length, adapter);
        let bytes = pattern(seed >> 8, length);
        store(&self.pe, at, &bytes);
        at
    }

    async fn play(&self, phase: &Phase) -> Vec<(usize, Found)> {
        let (mut begun, mut found) = (Vec::new(), Vec::new());
        for (number, step) in phase.steps[me(&self.pe) as usize].iter().enumerate() {
            if let Step::Collective(call) = step {
                let group = self.groups[call.group].as_ref();
                let group = group.expect("it is in the group");
                let outcome = call.call(&self.pe, group, self.area).await;
                found.push((number, Found::Collective(outcome)));
                continue;
            }
            let Some(one) = self.begin(step).await else {
                continue;
            };
            if phase.blocking {
                found.extend(self.end(one).await.map(|found| (number, found)));
            } else {
                begun.push((number, one));
            }
        }
        for (number, one) in begun {
            found.extend(self.end(one).await.map(|found| (number, found)));
        }
        found
    }

    async fn begin(&self, step: &Step) -> Option<Begun> {
        let elan = self.pe.elan();
        Some(match *step {
            Step::Send {
                to,
                tag,
                length,
                seed,
                synchronous,
                adapter,
            } => {
                let from = self.filled(seed, length, adapter);
                let mode = if synchronous {
                    Mode::Synchronous
                } else {
                    Mode::Standard
                };
                let label = (me(&self.pe), tag);
                let length = Bytes::new(length);
                let tx = elan.tport().tx_start(mode, pid(to), label, from, length);
                Begun::Send(tx, from)
            }
            Step::Receive {
                select,
                room,
                adapter,
            } => {
                let buffer = room.map(|room| self.buffer(room, adapter));
                let room = match (buffer, room) {
                    (Some(at), Some(length)) => Room::Buffer(at, Bytes::new(length)),
                    _ => Room::System,
                };
                Begun::Receive(elan.tport().rx_start(select, room), buffer)
            }
            Step::Put { to, seed } => {
                let from = self.filled(seed, to.length, false);
                let place = self.boards[to.board].offset(Bytes::new(to.at));
                let put = elan.put(pid(to.process), from, place, Bytes::new(to.length));
                Begun::Put(put, from)
            }
            Step::Get { from } => {
                let to = self.buffer(from.length, false);
                let place = self.boards[from.board].offset(Bytes::new(from.at));
                let get = elan.get(pid(from.process), place, to, Bytes::new(from.length));
                Begun::Get(get, to, from.length)
            }
            Step::Compute(time) => {
                self.pe.compute(Time::from_ns(time)).await;
                return None;
            }
            Step::Collective(_) => unreachable!("it is made at once"),
        })
    }

    async fn end(&self, begun: Begun) -> Option<Found> {
        let (elan, elan3) = (self.pe.elan(), self.pe.elan3());
        match begun {
            Begun::Send(tx, from) => {
                elan.tport().tx_wait(tx).await.unwrap();
                elan3.free(from).unwrap();
                None
            }
            Begun::Receive(rx, buffer) => {
                let received = elan.tport().rx_wait(rx).await.unwrap();
                assert_eq!(received.process, pid(received.sender));
                let at = received.at.expect("it is there");
                let bytes = self.load(at, received.size.as_u64());
                match buffer {
                    Some(buffer) => elan3.free(buffer).unwrap(),
                    None => elan.tport().buf_free(at).unwrap(),
                }
                Some(Found::Message {
                    sender: received.sender,
                    tag: received.tag,
                    bytes,
                })
            }
            Begun::Put(put, from) => {
                elan.wait(put).await.unwrap();
                elan3.free(from).unwrap();
                None
            }
            Begun::Get(get, to, length) => {
                elan.wait(get).await.unwrap();
                let bytes = self.load(to, length);
                elan3.free(to).unwrap();
                Some(Found::Bytes(bytes))
            }
        }
    }

    /// Waits for all others: in each round for one twice as far away.
    async fn meet(&self, phase: u32) {
        let (tport, me, all) = (self.pe.elan().tport(), me(&self.pe), self.pe.nvps());
        let nowhere = self.boards[0];
        for round in (0..32_u32).take_while(|&round| 1 << round < all) {
            let far = 1 << round;
            let tag = u64::from(phase | 1 << 23) << PHASE | u64::from(round);
            let from = Select::exactly(Some((me + all - far) % all), Some(tag));
            let rx = tport.rx_start(from, Room::Buffer(nowhere, Bytes::ZERO));
            let to = (me + far) % all;
            let tx = tport.tx_start(Mode::Standard, pid(to), (me, tag), nowhere, Bytes::ZERO);
            tport.rx_wait(rx).await.unwrap();
            tport.tx_wait(tx).await.unwrap();
        }
    }
}

/// The number of kinds of lies.
pub const LIES: u32 = 6;

/// Changes what was found; returns whether there was anything to change.
pub fn lie(notes: &mut Vec<Note>, lie: u32) -> bool {
    let message = notes
        .iter()
        .position(|note| matches!(&note.found, Found::Message { bytes, .. } if !bytes.is_empty()));
    match (lie, message) {
        (0, Some(index)) => {
            if let Found::Message { bytes, .. } = &mut notes[index].found {
                bytes[0] ^= 1;
            }
        }
        (1, Some(index)) => {
            notes.remove(index);
        }
        (2, Some(index)) => {
            if let Found::Message { tag, .. } = &mut notes[index].found {
                *tag ^= 1;
            }
        }
        (3, _) => {
            if let Some(Found::Boards(boards)) = notes.last_mut().map(|note| &mut note.found) {
                boards[1][77] ^= 1;
            }
        }
        _ => return lie_of_calls(notes, lie),
    }
    true
}

/// Changes the outcomes of collective calls.
fn lie_of_calls(notes: &mut [Note], lie: u32) -> bool {
    let mut outcomes = notes.iter_mut().filter_map(|note| match &mut note.found {
        Found::Collective(outcome) => Some(outcome),
        _ => None,
    });
    let lied = outcomes.find_map(|outcome| match (lie, outcome) {
        (4, Outcome::Places(_, second)) => {
            *second.last_mut()? ^= 1;
            Some(())
        }
        (5, Outcome::Barrier(came, left)) if *came > Time::ZERO => {
            *left = Time::ZERO;
            Some(())
        }
        _ => None,
    });
    lied.is_some()
}
