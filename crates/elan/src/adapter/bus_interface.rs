//! # The bus interface: how the adapter reads and writes main memory
//!
//! The adapter reads payload to send. An Elan3's PCI bus is taken while main memory answers; this
//! time belongs to `bus.burst_overhead`. On an Elan4's PCI-X bus (garcia2005 s2) a read is *split*
//! ([`AdapterPart::SplitReads`]): the adapter's request crosses the bus in a separate short
//! transaction; the bridge takes `elan4.split` to find the data, while others use the bus; then the
//! bridge sends the data in bursts as long as the bus allows. Both directions still share one bus,
//! so a request and its data each turn the bus if something else goes the other way.
//!
//! The adapter may have as many reads open as it prepares packets, `adapter.packets_in_flight`.
//! Data come in request order. Processor stores to the adapter and the adapter's writes are posted
//! writes on either bus.
//!
//! A main memory read sees all payload that the adapter has accepted before: bytes that are still
//! in the input buffers are read from there.

use super::bus::{BusState, Direction};
use super::{AdapterEvent, Wires};
use crate::config::{AdapterPart, Config};
use crate::in_flight::{FlightTables, PacketNumber};
use crate::memory::Address;
use std::collections::VecDeque;
use units::{Bytes, Time};

/// A request's address and attributes: a bus phase each, 4 bytes long.
pub const REQUEST: Bytes = Bytes::new(8);

/// One adapter's bus interface, with its bus.
pub(crate) struct BusInterface {
    bus: BusState<AdapterEvent>,
    /// If reads are split: the time from a request's end to the moment when its data ask for the
    /// bus.
    split: Option<Time>,
    /// Packets with a payload read under way.
    reading: u32,
    /// Packets with payload that waits in the input buffers for the bus, in order.
    writing: VecDeque<PacketNumber>,
}

impl BusInterface {
    pub fn new(config: &Config) -> Self {
        let split = config.parts.iter().find_map(|part| match *part {
            AdapterPart::SplitReads { latency } => Some(latency),
            _ => None,
        });
        BusInterface {
            bus: BusState::new(config.bus),
            split,
            reading: 0,
            writing: VecDeque::new(),
        }
    }

    /// Time in which the bus was taken so far.
    pub fn busy(&self) -> Time {
        self.bus.busy()
    }

    /// Packets with a payload read under way.
    pub fn reading(&self) -> u32 {
        self.reading
    }

    /// Packets that wait in the input buffers.
    pub fn writing(&self) -> u32 {
        self.writing.len() as u32
    }

    /// Overlays bytes read from main memory with the bytes that the input buffers will write there.
    pub fn read_behind(&self, flight: &FlightTables, at: Address, bytes: &mut [u8]) {
        let start = u64::from(at.elan.as_u32());
        let end = start + bytes.len() as u64;
        for &token in &self.writing {
            let packet = flight.packet(token);
            let to = flight.dma(packet.dma).dma.to.offset(packet.offset);
            let Some(payload) = packet.payload.as_ref() else {
                continue;
            };
            let from = u64::from(to.elan.as_u32());
            let (first, last) = (start.max(from), end.min(from + payload.len() as u64));
            if to.context == at.context && first < last {
                let new = &payload[(first - from) as usize..(last - from) as usize];
                bytes[(first - start) as usize..(last - start) as usize].copy_from_slice(new);
            }
        }
    }
}

impl Wires<'_> {
    /// Asks for the bus; `due` happens when all bytes are transferred.
    pub fn transfer(&mut self, direction: Direction, size: Bytes, due: AdapterEvent) {
        if let Some(duration) = self.interface.bus.request(direction, size, due) {
            let ends = AdapterEvent::BurstEnds(self.node, direction);
            self.schedule(self.now + duration, ends);
        }
    }

    /// A burst on the bus ends: returns the event that is due if the burst completed its transfer.
    pub fn end_burst(&mut self, direction: Direction) -> Option<AdapterEvent> {
        let (done, next) = self.interface.bus.finish_burst(direction);
        if let Some((direction, duration)) = next {
            let ends = AdapterEvent::BurstEnds(self.node, direction);
            self.schedule(self.now + duration, ends);
        }
        done
    }

    /// Reads a packet's payload. At the read's end, [`AdapterEvent::Read`] happens.
    pub fn read_main(&mut self, token: PacketNumber) {
        self.interface.reading += 1;
        if self.interface.split.is_some() {
            let asked = AdapterEvent::Asked(self.node, token);
            self.transfer(Direction::ToMain, REQUEST, asked);
        } else {
            self.found(token);
        }
    }

    /// A read's request has crossed the bus.
    pub fn asked(&mut self, token: PacketNumber) {
        let latency = self.interface.split.expect("it is read so");
        let found = AdapterEvent::Found(self.node, token);
        self.schedule(self.now + latency, found);
    }

    /// The payload asks for the bus.
    pub fn found(&mut self, token: PacketNumber) {
        let length = self.flight.packet(token).length;
        let read = AdapterEvent::Read(self.node, token);
        self.transfer(Direction::ToAdapter, length, read);
    }

    /// A packet's payload has been read.
    pub fn end_read(&mut self) {
        self.interface.reading -= 1;
    }

    /// Writes a packet's payload. At the write's end, [`AdapterEvent::Written`] happens.
    pub fn write_main(&mut self, token: PacketNumber) {
        self.interface.writing.push_back(token);
        let length = self.flight.packet(token).length;
        let written = AdapterEvent::Written(self.node, token);
        self.transfer(Direction::ToMain, length, written);
    }

    /// A packet's payload has been written.
    pub fn end_write(&mut self, token: PacketNumber) {
        let first = self.interface.writing.pop_front();
        assert_eq!(first, Some(token), "the bus works in order");
    }
}
