//! A run's end: its cause, the explanation for people, and the results.

use super::Server;
use crate::horizon::HORIZON;
use crate::outcome::{End, Outcome, Results, Waiting};
use crate::sampling::Sampling;
use crate::watch::{Trouble, is_absent};
use elan::Stop;
use link::{Foul, Phase, Simulator};
use units::{Bytes, Time};

/// Why the loop ends.
pub(super) enum Over {
    Finished,
    Died,
    Stopped(u32),
    Deadlock,
    Livelock,
    NoRoom,
    Trouble(Trouble),
    Stop(Stop),
}

impl From<Trouble> for Over {
    fn from(trouble: Trouble) -> Self {
        Over::Trouble(trouble)
    }
}

impl From<Stop> for Over {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Over::Trouble(Trouble::Cancelled),
            stop => Over::Stop(stop),
        }
    }
}

impl Server {
    /// How the loop ended, its explanation for people, and the rank that is to blame.
    fn explained(&self, over: &Over, attached: u32) -> (End, String, Option<u32>) {
        let mut rank = None;
        let (end, message) = match over {
            Over::Finished => (End::Finished, String::new()),
            Over::Deadlock => (
                End::Deadlock,
                "every rank waits for something that cannot happen any more".to_string(),
            ),
            Over::Livelock => (
                End::Deadlock,
                "ranks look again and again for what cannot come any more".to_string(),
            ),
            Over::Trouble(Trouble::Locked(which)) => {
                rank = Some(*which);
                let message = format!(
                    "rank {which} waits, outside of MPI, for a lock or a thread of its own process, none of whose threads runs"
                );
                (End::Deadlock, message)
            }
            Over::NoRoom => {
                let about = self.shared.no_room.borrow();
                let about = about.as_deref().unwrap_or_default();
                let message = format!("{about}, for which there is no room: {}", self.memory);
                (End::Limit, message)
            }
            Over::Died => {
                rank = self.dead.borrow().first().map(|dead| dead.rank);
                (End::Died, "ranks died, and the others ended".to_string())
            }
            Over::Stopped(which) => {
                rank = Some(*which);
                let dead = self.dead.borrow();
                let ranks: Vec<_> = dead.iter().map(|dead| dead.rank.to_string()).collect();
                let plural = if ranks.len() == 1 { "" } else { "s" };
                let node = self.shared.agents.borrow()[*which as usize]
                    .node
                    .rail_and_node()
                    .1;
                let message = format!(
                    "the host of node {node} stopped at {}, and rank{plural} {} with it",
                    self.cluster.now(),
                    ranks.join(", ")
                );
                (End::Stopped, message)
            }
            Over::Trouble(Trouble::Died(which)) => {
                rank = Some(*which);
                (End::Died, format!("rank {which} died"))
            }
            Over::Trouble(Trouble::LauncherGone) if attached == 0 => (
                End::NoMpi,
                "the program ended without having called MPI_Init".to_string(),
            ),
            Over::Trouble(Trouble::LauncherGone) => (
                End::LauncherGone,
                "the program that starts the ranks has gone".to_string(),
            ),
            Over::Trouble(Trouble::Cancelled) => {
                (End::Cancelled, "the run was cancelled".to_string())
            }
            Over::Trouble(Trouble::Corrupted) => {
                let wrong = self.turns.wrong.borrow();
                let wrong = wrong.as_ref().expect("somebody has complained");
                let trace = self.shared.trace.borrow();
                let said = self.shared.in_flight.complaint(&trace, wrong);
                (End::Corrupted, said)
            }
            Over::Trouble(Trouble::Foul) => {
                let foul = *self.turns.foul.borrow();
                let (which, foul) = foul.expect("a rank is to blame");
                rank = Some(which);
                let message = match foul {
                    Foul::Address { peer, at, size } => format!(
                        "rank {which} puts {} at address {at:#x} of rank {peer}, which lets others reach no memory there",
                        Bytes::new(size)
                    ),
                    foul => format!(
                        "rank {which} broke the rules by which ranks and simulator share memory: {foul}; \
                         something in its process has overwritten this memory, or it is no rank of this simulator"
                    ),
                };
                (End::Foul, message)
            }
            Over::Trouble(Trouble::Stray(which)) => {
                rank = Some(*which);
                (End::Stray, format!("rank {which} initialised another MPI"))
            }
            Over::Trouble(Trouble::Absent) => (
                End::Absent,
                "ranks ended without having called MPI_Init".to_string(),
            ),
            Over::Trouble(Trouble::Horizon) => (
                End::Limit,
                format!("the time of the program has come to {HORIZON}, where simulated time ends"),
            ),
            Over::Stop(stop @ (Stop::Deadlock { .. } | Stop::Livelock { .. })) => {
                (End::Deadlock, stop.to_string())
            }
            Over::Stop(stop) => (End::Limit, stop.to_string()),
        };
        (end, message, rank)
    }

    /// The outcome when a run has ended for this cause.
    pub(super) fn outcome(&self, over: &Over) -> Outcome {
        let link = self.turns.link.lock();
        let phases = || (0..link.ranks()).map(|rank| link.phase(rank));
        let attached = phases().filter(|&phase| phase != Phase::Absent).count() as u32;
        let (end, message, rank) = self.explained(over, attached);
        let agents = self.shared.agents.borrow();
        let unfinished = agents.iter().filter(|agent| !agent.is_finished());
        let waiting = unfinished.map(|agent| Waiting {
            rank: agent.rank,
            pid: link.pid(agent.rank),
            call: link.call(agent.rank),
            last: link.calls(agent.rank).last,
            frame: link.calls(agent.rank).frame,
            what: agent.under_way(),
            runs: !link.has_turn(agent.rank),
        });
        let absent = (0..link.ranks()).filter(|&rank| match end {
            End::Absent => is_absent(&link, rank),
            _ => link.phase(rank) == Phase::Absent,
        });
        let stray = rank.filter(|_| end == End::Stray);
        let stray = stray.and_then(|rank| link.stray(rank).map(|(why, pid)| (rank, pid, why)));
        Outcome {
            absent: absent.collect(),
            managed: (0..link.ranks())
                .any(|rank| link.phase(rank) == Phase::Absent && link.has_managed(rank)),
            stray,
            unseen: self.unseen(&link),
            end,
            message,
            waiting: waiting.collect(),
            rank,
            dead: self.dead.borrow().clone(),
            lost: self.shared.lost.borrow().clone(),
            time: self.time(),
            attached,
        }
    }

    /// Attached ranks without a seen call.
    fn unseen(&self, link: &Simulator) -> Vec<u32> {
        let trace = self.shared.trace.borrow();
        let unseen = (0..link.ranks()).zip(&trace.ranks);
        let unseen =
            unseen.filter(|&(rank, row)| row.calls == 0 && link.phase(rank) != Phase::Absent);
        unseen.map(|(rank, _)| rank).collect()
    }

    /// When the last rank finished, or how far the cluster has come if some have not finished.
    fn time(&self) -> Time {
        let agents = self.shared.agents.borrow();
        let trace = self.shared.trace.borrow();
        let finished = agents.iter().all(|agent| agent.is_finished());
        let last = trace.ranks.iter().map(|rank| rank.end).max();
        last.filter(|_| finished).unwrap_or(self.cluster.now())
    }

    /// The run's results.
    pub fn results(mut self, mut nodes: Vec<u32>, sampling: Option<&Sampling>) -> Results {
        nodes.truncate(self.shared.agents.borrow().len());
        let series = self.series.take().map(|mut series| {
            series.cut(&self.cluster);
            series.rows()
        });
        let time = self.time();
        let trace = self.shared.trace.borrow();
        let measured = self.shared.measured.borrow();
        let link = self.turns.link.lock();
        let mut ranks = trace.ranks.clone();
        for (rank, row) in (0..).zip(&mut ranks) {
            row.at_clocks = Time::from_ps(link.calls(rank).read).min(time);
            row.files.untimed = link.untimed(rank);
        }
        drop(link);
        Results {
            messages: trace.messages.clone(),
            calls: trace.calls.clone(),
            ranks,
            ways: trace.ways,
            nodes,
            links: self.baseline.links(&self.cluster),
            faults: workload::faults::rows(&self.cluster),
            resent: workload::faults::recoveries(&self.cluster).resent,
            series: series.unwrap_or_default(),
            schedules: self.shared.record(|recorder| recorder.schedules()),
            time,
            packets: self.cluster.packets(),
            events: self.cluster.events(),
            digest: trace.digest(&self.cluster.digest()),
            computed: sampling.map(|sampling| sampling.extended(&measured)),
            repeatable: measured.is_empty() && !self.shared.guessed.get(),
        }
    }
}
