//! A network in regions, as one network.

use super::team::Team;
use crate::control::{
    self, Ack, Deadlock, GroupFn, Hold, LinkCounters, NoRoute, Notice, PacketCensus, PacketSpec,
    Plan, Share,
};
use crate::cut::Cut;
use crate::motion::{FlitCensus, Motion, MotionReport};
use crate::network::{Network, SharedNodes, Simulation};
use crate::topology::CompiledRouting;
use crate::{Config, Cycle, LinkId, PacketId, Place};
use std::ops::AddAssign;
use std::sync::Arc;

/// See the module essay.
pub(crate) struct Divided<R: CompiledRouting + ?Sized, M: Motion> {
    config: Config,
    cut: Arc<Cut>,
    team: Team<R, M>,
}

impl<R: CompiledRouting + ?Sized + 'static, M: Motion + Send + 'static> Divided<R, M> {
    /// The engines for all regions in a network's cut; `mover` makes a region's mover.
    pub fn new(plan: &Plan<R>, cut: Cut, mover: impl Fn(&Cut, usize) -> M + Sync) -> Self {
        let (config, cut) = (plan.config().clone(), Arc::new(cut));
        let make = |region| {
            let mover = mover(&cut, region);
            let control = plan.region(&mover, Arc::clone(&cut), region);
            Simulation { control, mover }
        };
        let threads = config.threads as usize;
        Divided {
            team: Team::new(cut.regions(), threads, cut.window(), make),
            config,
            cut,
        }
    }

    /// Calls `act` with an adapter's region.
    fn at<T>(&self, place: Place, act: impl FnOnce(&mut Simulation<R, M>) -> T) -> T {
        self.team.with(self.cut.of_place(place), act)
    }

    /// Does something with every region.
    fn each(&self, mut act: impl FnMut(&mut Simulation<R, M>)) {
        for region in &mut self.team.all() {
            act(&mut region.running);
        }
    }

    fn sum<T: AddAssign + Default>(&self, count: impl Fn(&Simulation<R, M>) -> T) -> T {
        let mut sum = T::default();
        self.each(|region| sum += count(region));
        sum
    }
}

impl<R: CompiledRouting + ?Sized + 'static, M: Motion + Send + 'static> Network for Divided<R, M> {
    fn config(&self) -> &Config {
        &self.config
    }

    fn reverse_order_in_cycles(&mut self) {
        self.team.reverse();
        self.each(Simulation::reverse_order_in_cycles);
    }

    fn watch(&mut self) -> Vec<(Cycle, MotionReport)> {
        let mut moments = Vec::new();
        self.each(|region| moments.append(&mut region.watch()));
        moments
    }

    fn record(&mut self, from: Cycle) {
        self.each(|region| region.record(from));
    }

    fn recorded(&mut self) -> Vec<Hold> {
        let mut regions = self.team.all();
        let regions = regions.iter_mut();
        control::united(regions.map(|region| region.running.control.recorded()))
    }

    fn tally(&mut self, group: GroupFn) {
        self.each(|region| region.tally(group));
    }

    fn tallied(&self) -> Vec<Share> {
        // Each link begins in one region, which counts its traffic.
        let mut shares = Vec::new();
        self.each(|region| shares.append(&mut region.tallied()));
        shares.sort_by_key(|share| (share.link, share.group));
        shares
    }

    fn offer(&mut self, at: Cycle, spec: PacketSpec) {
        assert!(
            self.next_cycle().is_none_or(|next| next >= at),
            "cycles before {at} have not been executed"
        );
        self.at(spec.source, |region| region.offer(at, spec));
    }

    fn queued(&self, node: Place) -> usize {
        self.at(node, |region| region.queued(node))
    }

    fn arriving(&self, node: Place) -> u32 {
        self.at(node, |region| region.arriving(node))
    }

    fn acknowledge(&mut self, at: Cycle, packet: PacketId, ack: Ack) {
        let count = self.team.count();
        let (place, region) = (packet.place() / count, packet.place() % count);
        let packet = PacketId::at(place);
        self.team
            .with(region, |region| region.acknowledge(at, packet, ack));
    }

    fn cut(&mut self, _at: Cycle, _link: LinkId) {
        unreachable!("a machine with faults has one region");
    }

    fn repair(&mut self, _at: Cycle, _link: LinkId) {
        unreachable!("a machine with faults has one region");
    }

    fn learn(&mut self, _at: Cycle) {
        unreachable!("a machine with faults has one region");
    }

    fn is_cut(&self, _link: LinkId) -> bool {
        false
    }

    fn way(&self, _from: Place, _to: Place) -> Result<(), NoRoute> {
        Ok(())
    }

    fn next_cycle(&self) -> Option<Cycle> {
        self.team.next_cycle()
    }

    fn advance(&mut self, until: Cycle, notices: &mut Vec<Notice>) -> Option<Cycle> {
        while let Some(cycle) = self.next_cycle() {
            if cycle > until {
                self.skip_to(until.saturating_add(1));
                break;
            }
            self.team.execute(cycle, notices);
            if !notices.is_empty() {
                control::sort(notices);
                return Some(cycle);
            }
        }
        None
    }

    fn regions(&self) -> usize {
        self.team.count()
    }

    fn region_of(&self, adapter: Place) -> usize {
        self.cut.of_place(adapter)
    }

    fn run(&mut self, until: Cycle, nodes: &[SharedNodes]) {
        self.team.run(until, nodes);
    }

    fn skip_to(&mut self, cycle: Cycle) {
        self.team.skip_to(cycle);
    }

    fn deadlock(&self) -> Option<Deadlock> {
        let regions = self.team.all();
        let controls = regions.iter().map(|region| &region.running.control);
        control::deadlock(&controls.collect::<Vec<_>>())
    }

    fn counters(&self, link: LinkId) -> LinkCounters {
        let [region, _] = self.cut.ends(link);
        self.team.with(region, |region| region.counters(link))
    }

    fn events(&self) -> u64 {
        self.sum(Simulation::events)
    }

    fn motion_events(&self) -> u64 {
        self.sum(Simulation::motion_events)
    }

    fn packet_census(&self) -> PacketCensus {
        self.sum(Simulation::packet_census)
    }

    fn flit_census(&self) -> FlitCensus {
        let regions = self.team.all();
        let behind = |channel| {
            let link = regions[0].running.control.link(channel);
            let Simulation { control, mover } = &regions[self.cut.ends(link)[1]].running;
            control.passed(mover, channel)
        };
        let mut census = FlitCensus::default();
        for region in &regions {
            let Simulation { control, mover } = &region.running;
            census += control.flit_census(mover, &behind);
        }
        census
    }

    fn channels_taken(&self) -> u64 {
        self.sum(Simulation::channels_taken)
    }

    fn flits_under_way(&self) -> u64 {
        let delivered = self.sum(|region| region.control.delivered_visitors());
        self.sum(Simulation::flits_under_way) - delivered
    }
}
