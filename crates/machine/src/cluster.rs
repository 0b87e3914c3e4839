//! From a machine file to what the simulator needs.

use crate::Rails;
use crate::file::{
    Arbitration, Ascent, Broadcast, Bus, Circuit, Duplex, Engine, Machine, Matching, Multiplexing,
};
use elan::{
    AdapterConfig, BusConfig, Config, Elan4Config, GroupConfig, HostConfig, PacketFormat,
    TportConfig,
};
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

    /// The engine in the fabric's own terms.
    pub(crate) fn engine(&self) -> fabric::Engine {
        match self.fabric.engine {
            Engine::Worm => fabric::Engine::Worm,
            Engine::Flit => fabric::Engine::Flit,
        }
    }

    /// The service of a link's channels in the fabric's own terms.
    pub(crate) fn multiplexing(&self) -> fabric::Multiplexing {
        match self.switch.multiplexing.value {
            Multiplexing::OldestFirst => fabric::Multiplexing::OldestFirst,
            Multiplexing::RoundRobin => fabric::Multiplexing::RoundRobin,
        }
    }

    fn elan4(&self) -> Option<Elan4Config> {
        self.elan4.as_ref().map(|elan4| Elan4Config {
            sten_start: elan4.sten_start.value,
            engines: elan4.engines.value,
            split: elan4.split.value,
        })
    }

    fn tport(&self) -> TportConfig {
        let tport = &self.tport;
        TportConfig {
            matching: match tport.matching.as_ref().map(|matching| matching.value) {
                None | Some(Matching::Adapter) => elan::Matching::Adapter,
                Some(Matching::Host) => elan::Matching::Host,
            },
            handle: tport.handle.value,
            scan: tport.scan.value,
            small: tport.small.value,
            big: tport.big.value,
            slots: tport.slots.value,
            buffer: tport.buffer.value,
            system: tport.system.value,
        }
    }

    /// The hosts in the simulator's terms.
    fn host_config(&self) -> HostConfig {
        HostConfig {
            call: self.host.call.value,
            request: (self.host.request.as_ref()).map_or(Time::ZERO, |time| time.value),
            copy: self.host.copy.value,
            shared: self.host.shared.value,
            cpus: self.cpus(),
        }
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
                engine: self.engine(),
                topology: self.topology().expect("the machine has been checked"),
                hop_delay: (0..levels).map(delay).collect(),
                channels: link.channels.value,
                buffer: link.buffer.value.as_u32(),
                packets_in_flight: adapter.packets_in_flight.value,
                circuit: match switch.circuit.value {
                    Circuit::UntilAcknowledged => fabric::Circuit::UntilAcknowledged,
                    Circuit::UntilDelivered => fabric::Circuit::UntilDelivered,
                    Circuit::Wormhole => fabric::Circuit::Wormhole,
                },
                ascent: match switch.ascent.value {
                    Ascent::Adaptive => fabric::Ascent::Adaptive,
                    Ascent::Deterministic => fabric::Ascent::Deterministic,
                    Ascent::SourceFixed => fabric::Ascent::SourceFixed,
                },
                broadcast: match switch.broadcast.value {
                    Broadcast::Serialised => fabric::Broadcast::Serialised,
                    Broadcast::BySource => fabric::Broadcast::BySource,
                },
                combine: cycles(switch.combine.value),
                arbitration: match switch.arbitration.value {
                    Arbitration::Age => fabric::Arbitration::Age,
                    Arbitration::RoundRobin => fabric::Arbitration::RoundRobin,
                },
                multiplexing: self.multiplexing(),
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
            adapter: AdapterConfig {
                turnaround: adapter.turnaround.value,
                command: adapter.command.value,
                dma_start: adapter.dma_start.value,
                input: adapter.input.value,
                event: adapter.event.value,
                poll: adapter.poll.value,
                time_slice: adapter.time_slice.value,
                queue: adapter.queue.value,
                input_buffers: adapter.input_buffers.value,
                retries: adapter.retries.value,
                retry_delay: adapter.retry_delay.value,
                trap_delay: adapter.trap_delay.value,
                memory: adapter.memory.value,
                interrupt: adapter.interrupt.value,
                thread_cycle: adapter.thread_cycle.value,
                thread_switch: adapter.thread_switch.value,
                thread_issue: adapter.thread_issue.value,
            },
            elan4: self.elan4(),
            bus: self.bus.config(),
            host: self.host_config(),
            tport: self.tport(),
            group: GroupConfig {
                branching: self.group.branching.value,
                broadcast: self.group.broadcast.value,
            },
            noise: self.noise_sources(),
            rails: self.rails.as_ref().map(Rails::config),
        }
    }
}

impl Bus {
    fn config(&self) -> BusConfig {
        BusConfig {
            duplex: match self.duplex.as_ref().map(|duplex| duplex.value) {
                None | Some(Duplex::Half) => elan::Duplex::Half,
                Some(Duplex::Full) => elan::Duplex::Full,
            },
            rate: self.rate.value,
            burst: self.burst.value,
            burst_overhead: self.burst_overhead.value,
            turnaround: self.turnaround.value,
        }
    }
}
