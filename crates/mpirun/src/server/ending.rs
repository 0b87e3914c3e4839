//! A run's end: its cause, the explanation for people, and the results.

use super::Server;
use crate::horizon::HORIZON;
use crate::outcome::{Outcome, Results, RunEnd, WaitingRank};
use crate::sampling::Sampling;
use crate::watch::{WaitEnd, is_absent};
use elan::Stop;
use goal::RegionLimit;
use link::{RankPhase, Simulator, Violation};
use units::{Bytes, Time};

/// Why the loop ends.
pub(super) enum LoopEnd {
    Finished,
    Died,
    Stopped(u32),
    Deadlock,
    Livelock,
    NoRoom,
    Wait(WaitEnd),
    Stop(Stop),
}

impl From<WaitEnd> for LoopEnd {
    fn from(trouble: WaitEnd) -> Self {
        LoopEnd::Wait(trouble)
    }
}

impl From<Stop> for LoopEnd {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => LoopEnd::Wait(WaitEnd::Cancelled),
            stop => LoopEnd::Stop(stop),
        }
    }
}

/// The call that a rank is in: of its threads' calls the latest one, or one that waits.
fn call_of(link: &Simulator, rank: u32) -> u32 {
    let lookers = link.lookers(rank);
    let looks = || lookers.first().map_or(0, |looker| looker.call);
    Some(link.call(rank))
        .filter(|&call| call != 0)
        .unwrap_or_else(looks)
}

impl Server {
    /// How the loop ended, its explanation for people, and the rank that is to blame.
    fn explained(&self, over: &LoopEnd, attached: u32) -> (RunEnd, String, Option<u32>) {
        let mut rank = None;
        let (end, message) = match over {
            LoopEnd::Finished => (RunEnd::Finished, String::new()),
            LoopEnd::Deadlock => (
                RunEnd::Deadlock,
                "every rank waits for something that cannot happen any more".to_string(),
            ),
            LoopEnd::Livelock => (
                RunEnd::Deadlock,
                "ranks look again and again for what cannot come any more".to_string(),
            ),
            LoopEnd::Wait(WaitEnd::Locked(which)) => {
                rank = Some(*which);
                let message = format!(
                    "rank {which} waits, outside of MPI, for a lock or a thread of its own \
                    process, none of whose threads runs"
                );
                (RunEnd::Deadlock, message)
            }
            LoopEnd::NoRoom => {
                let about = self.shared.no_room.borrow();
                let about = about.as_deref().unwrap_or_default();
                let message = format!("{about}, for which there is no room: {}", self.memory);
                (RunEnd::Limit, message)
            }
            LoopEnd::Died => {
                rank = self.dead.borrow().first().map(|dead| dead.rank);
                (RunEnd::Died, "ranks died, and the others ended".into())
            }
            LoopEnd::Stopped(which) => {
                rank = Some(*which);
                let dead = self.dead.borrow();
                let ranks: Vec<_> = dead.iter().map(|dead| dead.rank.to_string()).collect();
                let plural = if ranks.len() == 1 { "" } else { "s" };
                let agents = self.shared.agents.borrow();
                let node = agents[*which as usize].node.rail_and_node().1;
                let (now, ranks) = (self.cluster.now(), ranks.join(", "));
                let message = format!(
                    "the host of node {node} stopped at {now}, and rank{plural} {ranks} with it"
                );
                (RunEnd::Stopped, message)
            }
            LoopEnd::Wait(WaitEnd::Died(which)) => {
                rank = Some(*which);
                (RunEnd::Died, format!("rank {which} died"))
            }
            LoopEnd::Wait(WaitEnd::LauncherGone) if attached == 0 => (
                RunEnd::NoMpi,
                "the program ended without having called MPI_Init".to_string(),
            ),
            LoopEnd::Wait(WaitEnd::LauncherGone) => (
                RunEnd::LauncherGone,
                "the program that starts the ranks has gone".to_string(),
            ),
            LoopEnd::Wait(WaitEnd::Cancelled) => {
                (RunEnd::Cancelled, "the run was cancelled".into())
            }
            LoopEnd::Wait(WaitEnd::Corrupted) => {
                let wrong = self.turns.wrong.borrow();
                let wrong = wrong.as_ref().expect("somebody has complained");
                let trace = self.shared.trace.borrow();
                let said = self.shared.in_flight.complaint(&trace, wrong);
                (RunEnd::Corrupted, said)
            }
            LoopEnd::Wait(WaitEnd::Foul) => {
                let (which, foul) = self.turns.foul.borrow().expect("a rank is to blame");
                rank = Some(which);
                let message = match foul {
                    Violation::Address { peer, at, size } => format!(
                        "rank {which} puts {} at address {at:#x} of rank {peer}, which lets others \
                        reach no memory there",
                        Bytes::new(size)
                    ),
                    foul => format!(
                        "rank {which} broke the rules by which ranks and simulator share memory: \
                        {foul}; something in its process has overwritten this memory, or it is no \
                        rank of this simulator"
                    ),
                };
                (RunEnd::Foul, message)
            }
            LoopEnd::Wait(WaitEnd::Stray(which)) => {
                rank = Some(*which);
                let message = format!("rank {which} initialised another MPI");
                (RunEnd::Stray, message)
            }
            LoopEnd::Wait(WaitEnd::Absent) => (
                RunEnd::Absent,
                "ranks ended without having called MPI_Init".to_string(),
            ),
            LoopEnd::Wait(WaitEnd::Horizon) => (
                RunEnd::Limit,
                format!("the time of the program has come to {HORIZON}, where simulated time ends"),
            ),
            LoopEnd::Stop(stop @ (Stop::Deadlock { .. } | Stop::Livelock { .. })) => {
                (RunEnd::Deadlock, stop.to_string())
            }
            LoopEnd::Stop(stop) => (RunEnd::Limit, stop.to_string()),
        };
        (end, message, rank)
    }

    /// The outcome when a run has ended for this cause.
    pub(super) fn outcome(&self, over: &LoopEnd) -> Outcome {
        let link = self.turns.link.lock();
        let phases = || (0..link.ranks()).map(|rank| link.phase(rank));
        let attached = phases().filter(|&phase| phase != RankPhase::Absent).count() as u32;
        let (end, message, rank) = self.explained(over, attached);
        let agents = self.shared.agents.borrow();
        let unfinished = agents.iter().filter(|agent| !agent.is_finished());
        let waiting = unfinished.map(|agent| WaitingRank {
            rank: agent.rank,
            pid: link.pid(agent.rank),
            call: call_of(&link, agent.rank),
            last: link.calls(agent.rank).last,
            frame: link.calls(agent.rank).frame,
            what: agent.under_way(),
            runs: !link.has_turn(agent.rank),
        });
        let absent = (0..link.ranks()).filter(|&rank| match end {
            RunEnd::Absent => is_absent(&link, rank),
            _ => link.phase(rank) == RankPhase::Absent,
        });
        let stray = rank.filter(|_| end == RunEnd::Stray);
        let stray = stray.and_then(|rank| link.stray(rank).map(|(why, pid)| (rank, pid, why)));
        Outcome {
            absent: absent.collect(),
            managed: (0..link.ranks())
                .any(|rank| link.phase(rank) == RankPhase::Absent && link.has_managed(rank)),
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
            unseen.filter(|&(rank, row)| row.calls == 0 && link.phase(rank) != RankPhase::Absent);
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
            recording: self.shared.record(|recorder| {
                let bound = |name: &str| {
                    sampling.map_or(RegionLimit::Processor, |sampling| sampling.bound(name))
                };
                let processor = sampling.map(|sampling| sampling.processor);
                let notes = recorder.notes(bound, processor);
                recorder.schedules().map(|schedules| (schedules, notes))
            }),
            time,
            packets: self.cluster.packets(),
            events: self.cluster.events(),
            digest: trace.digest(&self.cluster.digest()),
            computed: sampling.map(|sampling| sampling.extended(&measured)),
            repeatable: measured.is_empty() && !self.shared.guessed.get(),
        }
    }
}
