//! Each quantity's units.

use crate::error::Quantity;

/// A unit: its symbol, and its size in the smallest unit.
pub(crate) struct Unit {
    pub symbol: &'static str,
    pub size: u64,
    /// Other accepted symbols.
    pub also: &'static [&'static str],
    /// Spellings that are not accepted but understood well enough to name the right symbol.
    pub hints: &'static [&'static str],
}

/// A quantity's units.
pub(crate) struct Scale {
    pub quantity: Quantity,
    /// The units in ascending order; the first has size 1.
    pub units: &'static [Unit],
    /// Units that are read and never printed.
    pub read: &'static [Unit],
    /// The smallest unit, spelled out in the plural.
    pub smallest: &'static str,
    /// The largest value.
    pub max: u64,
    /// `max` for people.
    pub limit: &'static str,
}

const fn unit(
    symbol: &'static str,
    size: u64,
    also: &'static [&'static str],
    hints: &'static [&'static str],
) -> Unit {
    Unit {
        symbol,
        size,
        also,
        hints,
    }
}

pub(crate) const TIME: Scale = Scale {
    quantity: Quantity::Time,
    units: &[
        unit("ps", 1, &[], &["picosecond", "psec"]),
        unit("ns", 1_000, &[], &["nanosecond", "nsec"]),
        // MICRO SIGN and GREEK SMALL LETTER MU look alike; keyboards produce either.
        unit(
            "us",
            1_000_000,
            &["\u{b5}s", "\u{3bc}s"],
            &["microsecond", "usec"],
        ),
        unit("ms", 1_000_000_000, &[], &["millisecond", "msec"]),
        unit("s", 1_000_000_000_000, &[], &["second", "sec"]),
    ],
    read: &[],
    smallest: "picoseconds",
    max: u64::MAX,
    limit: "18446744 s",
};

pub(crate) const SIZE: Scale = Scale {
    quantity: Quantity::Size,
    units: &[
        unit("B", 1, &[], &["byte"]),
        unit("KB", 1 << 10, &["KiB"], &["K", "kilobyte"]),
        unit("MB", 1 << 20, &["MiB"], &["M", "megabyte"]),
        unit("GB", 1 << 30, &["GiB"], &["G", "gigabyte"]),
    ],
    read: &[],
    smallest: "bytes",
    max: u64::MAX,
    limit: "17179869183 GB",
};

pub(crate) const RATE: Scale = Scale {
    quantity: Quantity::Rate,
    units: &[
        unit("B/s", 1, &[], &["Bps"]),
        unit("KB/s", 1_000, &[], &["KBps", "KiB/s"]),
        unit("MB/s", 1_000_000, &[], &["MBps", "MiB/s"]),
        unit("GB/s", 1_000_000_000, &[], &["GBps", "GiB/s"]),
    ],
    // Today's links are named by their bits per second.
    read: &[
        unit("Mb/s", 1_000_000 / 8, &[], &["Mbps", "Mbit/s"]),
        unit("Gb/s", 1_000_000_000 / 8, &[], &["Gbps", "Gbit/s"]),
    ],
    smallest: "bytes per second",
    max: u64::MAX,
    limit: "18446744073 GB/s",
};

pub(crate) const FLITS: Scale = Scale {
    quantity: Quantity::Flits,
    units: &[unit("flits", 1, &["flit"], &[])],
    read: &[],
    smallest: "flits",
    max: u32::MAX as u64,
    limit: "4294967295 flits",
};

pub(crate) const SCALES: [&Scale; 4] = [&TIME, &SIZE, &RATE, &FLITS];

impl Scale {
    /// All units: those that are printed first.
    fn all(&self) -> impl Iterator<Item = &'static Unit> {
        self.units.iter().chain(self.read)
    }

    pub fn find(&self, symbol: &str) -> Option<&'static Unit> {
        self.all()
            .find(|unit| unit.symbol == symbol || unit.also.contains(&symbol))
    }

    /// The unit that `word` probably means: its symbol except for case or a single typing slip, or
    /// its name spelled out.
    pub fn nearest(&self, word: &str) -> Option<&'static str> {
        let singular = word.strip_suffix('s').unwrap_or(word);
        let known = |unit: &&Unit| {
            let same = |name: &str| name.eq_ignore_ascii_case(word);
            let hint = |name: &str| same(name) || name.eq_ignore_ascii_case(singular);
            same(unit.symbol)
                || unit.also.iter().any(|name| same(name))
                || unit.hints.iter().any(|name| hint(name))
        };
        // With a slip in a one-letter unit any two-letter word would match.
        let slip = |unit: &&Unit| {
            unit.symbol.len() > 1 && strsim::damerau_levenshtein(unit.symbol, word) == 1
        };
        // "Gbps" differs from "GBps".
        let exact = |unit: &&Unit| unit.hints.contains(&word);
        let unit = self.all().find(exact);
        let unit = unit.or_else(|| self.all().find(known));
        let unit = unit.or_else(|| self.all().find(slip))?;
        Some(unit.symbol)
    }

    /// The symbols, for messages: "ps, ns, us, ms or s".
    pub fn symbols(&self) -> String {
        let symbols: Vec<_> = self.all().map(|unit| unit.symbol).collect();
        match symbols.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => symbols.concat(),
        }
    }

    /// A regular expression of all valid texts, for the JSON schema.
    pub fn pattern(&self) -> String {
        let symbols: Vec<_> = self
            .all()
            .flat_map(|unit| [unit.symbol].into_iter().chain(unit.also.iter().copied()))
            .collect();
        format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({})\s*$", symbols.join("|"))
    }

    /// A description of a valid text.
    pub fn description(&self) -> String {
        format!(
            "{} in {}, such as {:?}; a whole number of {}",
            self.quantity,
            self.symbols(),
            self.quantity.example(),
            self.smallest
        )
    }
}
