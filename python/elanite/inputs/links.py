"""Current links by name: rate, switch ports, and the bus of their generation's adapters.

The rate is the data rate in each direction, behind line code and error correction: four InfiniBand
lanes, or the Ethernet MAC. Each name has one switch, with a port count that is the default for
``elanite new machine``, and one bus. Switch delays, adapter start-up times and all else come from a
shipped machine, ``base``: no other published values are in use. Ethernet has longer headers, and is
taken as lossless: links wait for credits as with priority flow control (PFC), and congestion
control is not modelled.

Sources: InfiniBand Architecture Specification, volume 1, and the IBTA's roadmap; IEEE 802.3by (25
Gb/s), 802.3cd (50), 802.3bj (100), 802.3bs (200 and 400), 802.3df (800); RoCEv2, annex A17 of the
InfiniBand specification; the switches' data sheets.
"""

from __future__ import annotations

from dataclasses import dataclass

from elanite.errors import UsageError
from elanite.inputs.sources import did_you_mean


@dataclass(frozen=True)
class Bus:
    """A PCIe slot in full duplex."""

    rate: str
    overhead: str
    """The time for a transaction's 26 bytes of framing, header and checksum."""
    source: str


GEN3_X8 = Bus("7880 MB/s", "3.3 ns", "PCIe 3.0, 8 lanes of 8 GT/s, 128 of 130 bits")
GEN3 = Bus("15750 MB/s", "1.65 ns", "PCIe 3.0, 16 lanes of 8 GT/s, 128 of 130 bits")
GEN4 = Bus("31500 MB/s", "0.8 ns", "PCIe 4.0, 16 lanes of 16 GT/s, 128 of 130 bits")
GEN5 = Bus("63000 MB/s", "0.4 ns", "PCIe 5.0, 16 lanes of 32 GT/s, 128 of 130 bits")
GEN6 = Bus("118000 MB/s", "0.2 ns", "PCIe 6.0, 16 lanes of 64 GT/s, 236 of the 256 bytes of a flit")


@dataclass(frozen=True)
class LinkKind:
    """A link kind."""

    name: str
    rate: str
    source: str
    """Whence the rate is."""
    ports: int
    """Ports per switch."""
    switch: str
    """The switch with this port count."""
    bus: Bus
    ethernet: bool = False

    @property
    def family(self) -> str:
        """The technology's name."""
        return "Ethernet" if self.ethernet else "InfiniBand"

    @property
    def base(self) -> str:
        """The shipped machine with switches and adapters in this technology."""
        return "slingshot-dragonfly" if self.ethernet else "infiniband-ndr"


HEADER = (
    "82 B",
    "RoCEv2: preamble and gap 20 bytes, Ethernet 18, IPv4 20, UDP 8, BTH 12, invariant checksum 4",
)
"""Bytes in an Ethernet packet outside its payload."""

_ALL = (
    LinkKind(
        "EDR",
        "100 Gb/s",
        "InfiniBand EDR: four lanes of 25 Gb/s of data",
        36,
        "SB7800 (Switch-IB 2)",
        GEN3,
    ),
    LinkKind(
        "HDR100",
        "100 Gb/s",
        "InfiniBand HDR100: two lanes of 50 Gb/s of data",
        80,
        "QM8700 (Quantum), split",
        GEN3,
    ),
    LinkKind(
        "HDR",
        "200 Gb/s",
        "InfiniBand HDR: four lanes of 50 Gb/s of data",
        40,
        "QM8700 (Quantum)",
        GEN4,
    ),
    LinkKind(
        "NDR200",
        "200 Gb/s",
        "InfiniBand NDR200: two lanes of 100 Gb/s of data",
        128,
        "QM9700 (Quantum-2), split",
        GEN5,
    ),
    LinkKind(
        "NDR",
        "400 Gb/s",
        "InfiniBand NDR: four lanes of 100 Gb/s of data",
        64,
        "QM9700 (Quantum-2)",
        GEN5,
    ),
    LinkKind(
        "XDR",
        "800 Gb/s",
        "InfiniBand XDR: four lanes of 200 Gb/s of data",
        144,
        "Q3400 (Quantum-X800)",
        GEN6,
    ),
    LinkKind(
        "10GbE",
        "10 Gb/s",
        "IEEE 802.3ae: the rate of the MAC",
        48,
        "SN2410 (Spectrum)",
        GEN3_X8,
        ethernet=True,
    ),
    LinkKind(
        "25GbE",
        "25 Gb/s",
        "IEEE 802.3by: the rate of the MAC",
        48,
        "SN2410 (Spectrum)",
        GEN3_X8,
        ethernet=True,
    ),
    LinkKind(
        "50GbE",
        "50 Gb/s",
        "IEEE 802.3cd: the rate of the MAC",
        64,
        "SN2700 (Spectrum), split",
        GEN3,
        ethernet=True,
    ),
    LinkKind(
        "100GbE",
        "100 Gb/s",
        "IEEE 802.3bj: the rate of the MAC",
        32,
        "SN2700 (Spectrum)",
        GEN3,
        ethernet=True,
    ),
    LinkKind(
        "200GbE",
        "200 Gb/s",
        "IEEE 802.3bs: the rate of the MAC",
        32,
        "SN3700 (Spectrum-2)",
        GEN4,
        ethernet=True,
    ),
    LinkKind(
        "400GbE",
        "400 Gb/s",
        "IEEE 802.3bs: the rate of the MAC",
        32,
        "SN4700 (Spectrum-3)",
        GEN5,
        ethernet=True,
    ),
    LinkKind(
        "800GbE",
        "800 Gb/s",
        "IEEE 802.3df: the rate of the MAC",
        64,
        "SN5600 (Spectrum-4)",
        GEN6,
        ethernet=True,
    ),
)

LINKS = {link.name: link for link in _ALL}


def find(name: str) -> LinkKind:
    """The links with a name, whatever its case. Raises ``UsageError`` with the known names."""
    known = {each.lower(): each for each in LINKS}
    if (found := known.get(name.lower())) is not None:
        return LINKS[found]
    hint = did_you_mean(name.lower(), known)
    raise UsageError(f"--link {name}: there is no such link{hint}\n  links are {', '.join(LINKS)}")
