//! Changes of parameters of the good machine, each of which decides something in the simulated network.

pub const CHANGES: [&str; 20] = [
    "link.hop_delay=60 ns",
    "link.channels=3",
    "link.classes=2",
    "link.buffer=127 flits",
    "switch.circuit=wormhole",
    "switch.ascent=deterministic",
    "switch.broadcast=by-source",
    "switch.combine=10 ns",
    "switch.arbitration=round-robin",
    "switch.age_cap=71 us",
    "switch.age_bits=5",
    "switch.priorities=false",
    "switch.tokens=false",
    "packet.payload=256 B",
    "packet.transaction=32 B",
    "packet.header=9 B",
    "packet.transaction_overhead=9 B",
    "adapter.packets_in_flight=1",
    "adapter.share_period=186 flits",
    "adapter.share_burst=31 flits",
];
