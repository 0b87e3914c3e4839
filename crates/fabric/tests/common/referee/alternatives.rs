//! Ways in graphs that list the k shortest ones.

use super::ways::class_of;
use super::{Header, Referee, hash};
use fabric::{Ascent, Cycle, Graph, Place, SwitchId, Wiring};
use std::ops::Range;

impl Referee<'_> {
    /// One of the k shortest ways in a graph, which the graph lists: its number is fixed at the
    /// packet's first switch.
    pub(super) fn listed_step(
        &mut self,
        now: Cycle,
        graph: &Graph,
        header: &Header,
        switch: SwitchId,
    ) -> (u32, Range<u32>) {
        let wiring = graph.cabling();
        let all = graph.alternatives().expect("the graph lists its ways");
        let flight = &self.flights[&header.packet];
        let ends = [flight.spec.source, flight.spec.destination.first()].map(Place::get);
        let position = |place: u32| fabric::NodeId::new(place % wiring.positions());
        let [from, to] = graph.leaves_of(ends.map(position));
        let (count, hops) = (all.count(from, to), flight.taken.len() - 1);
        if hops == 0 {
            let ascent = self.case.config.ascent;
            let [source, node] = match ascent {
                Ascent::SourceFixed => [ends[0], 0],
                Ascent::FlowHash => ends,
                _ => [0, ends[1]],
            };
            let mut way = match ascent {
                Ascent::Adaptive => hash(ends[0], flight.sequence, u32::MAX),
                _ => hash(source, node, 0),
            } % u64::from(count);
            if ascent == Ascent::Adaptive {
                let cost = |&way: &u64| {
                    let ports = all.ports(from, to, way as u32);
                    let links = ports.len() as u32;
                    (self.load(now, switch, ports[0].into()) * links, links)
                };
                let count = u64::from(count);
                let ways = (way..way + count).map(|way| way % count);
                way = ways.min_by_key(cost).expect("a way leads on");
            }
            let flight = self.flights.get_mut(&header.packet);
            flight.expect("it is under way").link = way as usize;
        }
        let way = self.flights[&header.packet].link as u32;
        let lanes = match all.classes() {
            1 => header.lanes.clone(),
            classes => {
                let class = all.class(from, to, way, hops as u32);
                class_of(&header.lanes, class, classes)
            }
        };
        (all.ports(from, to, way)[hops].into(), lanes)
    }
}
