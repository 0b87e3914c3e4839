//! From a machine file to what the simulator needs.

use crate::Rails;
use crate::file::Machine;
use elan::{Config, PacketFormat, Part};
use fabric::{Topology, TopologyError};
use units::Time;

impl Machine {
    /// The cycle of the fabric: a flit at the rate of a link; none if that is no whole number of picoseconds.
    pub(crate) fn cycle(&self) -> Option<Time> {
        let (flit, rate) = (self.link.flit.value, self.link.rate.value);
        let cycle = rate.checked_time(flit)?;
        let exact = u128::from(cycle.as_ps()) * u128::from(rate.as_bytes_per_second())
            == u128::from(flit.as_u64()) * 1_000_000_000_000;
        (exact && !cycle.is_zero()).then_some(cycle)
    }

    /// The networks of all rails, if there can be such.
    pub(crate) fn topology(&self) -> Result<Topology, TopologyError> {
        let rails = self.rails.as_ref().map_or(1, |rails| rails.count.value);
        self.topology.of_a_rail()?.with_rails(rails)
    }

    /// The parts that an adapter of its generation has beside those of all: of an Elan3 none.
    fn parts(&self) -> Vec<Part> {
        self.elan4.as_ref().map_or_else(Vec::new, |elan4| {
            vec![
                Part::Sten {
                    start: elan4.sten_start.value,
                },
                Part::DmaEngines {
                    count: elan4.engines.value,
                },
                Part::SplitReads {
                    latency: elan4.split.value,
                },
            ]
        })
    }

    /// The resolved form of a checked machine.
    pub fn cluster_config(&self) -> Config {
        let (link, switch, adapter) = (&self.link, &self.switch, &self.adapter);
        let cycle = self.cycle().expect("the machine has been checked");
        let levels = self.topology.levels();
        let cycles = |time: Time| time.div_ceil(cycle);
        let delay = |level| {
            cycles(
                link.hop_delay
                    .value
                    .level(level)
                    .expect("the machine has been checked"),
            ) as u32
        };
        Config {
            fabric: fabric::Config {
                engine: self.fabric.engine,
                topology: self.topology().expect("the machine has been checked"),
                hop_delay: (0..levels).map(delay).collect(),
                channels: link.channels.value,
                buffer: link.buffer.value.as_u32(),
                packets_in_flight: adapter.packets_in_flight.value,
                circuit: switch.circuit.value,
                ascent: switch.ascent.value,
                broadcast: switch.broadcast.value,
                combine: cycles(switch.combine.value),
                arbitration: switch.arbitration.value,
                multiplexing: switch.multiplexing.value,
                age_cap: cycles(switch.age_cap.value),
                age_step: cycles(switch.age_step.value),
                priorities: switch.priorities.value,
                tokens: switch.tokens.value,
                share_period: adapter.share_period.value.as_u32().into(),
                share_burst: adapter.share_burst.value.as_u32().into(),
            },
            cycle,
            packet: PacketFormat {
                payload: self.packet.payload.value,
                transaction: self.packet.transaction.value,
                header: self.packet.header.value,
                transaction_overhead: self.packet.transaction_overhead.value,
                flit: link.flit.value,
            },
            adapter: adapter.config(),
            parts: self.parts(),
            bus: self.bus.config(),
            host: self.host.config(),
            tport: self.tport.config(),
            group: self.group.config(),
            noise: self.noise_sources(),
            rails: self.rails.as_ref().map(Rails::config),
        }
    }
}
