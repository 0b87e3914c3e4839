//! # The expected goodput of one stream over links with bit errors, in closed form
//!
//! A process sends messages of one packet each, the next when it knows that the last one is
//! complete. Without bit errors a message takes a time `T`, measured with two messages on the idle
//! machine. With bit errors a packet is retransmitted as a whole until the source receives its
//! acceptance, and the added time has a closed form.
//!
//! The packet crosses `n` links. On link `i` each bit is wrong with probability `r_i`. A packet has
//! `b` bits; switches check only the header's `h` bits. An answer has `t` bits. The fabric and the
//! adapter's recovery set the rules. An attempt ends in one of these ways:
//!
//! * *The switch behind link `k` refuses the packet* (`k < n`), with probability
//!   `prod(i < k) (1 - r_i)^h * (1 - (1 - r_k)^h)`: its answer passes the `k` links back.
//! * *The destination refuses the packet*: all switches have accepted the header, and another bit
//!   is wrong; on the last link the destination checks all bits. Its answer passes all links back.
//! * *The destination accepts the packet*, with probability `a = prod (1 - r_i)^b`. Its answer
//!   passes all links back.
//! * *In each case the answer may be lost*: over `k` links it comes with probability
//!   `prod(i <= k) (1 - r_i)^t`.
//!
//! A received refusal costs the time to the refusing end and back, and `retry_delay`. A lost answer
//! costs the output timeout and the backoff in either case: an accepted packet is sent again, too,
//! and the destination recognises the duplicate. Attempts are independent, and end with probability
//! `p = a * prod (1 - r_i)^t`. So there are on average `1 / p` attempts. If each failure mode has
//! the probability `q_j` and the cost `c_j`, a message takes `T + sum(q_j * c_j) / p`.
//!
//! The form holds as long as no packet is given up and there is no other traffic. All links at a
//! level have one rate; switches may pick any of them.

use crate::Failure;
use crate::records::{Baseline, Records};
use crate::rows::MetricRow;
use elan::{Cluster, Config, Dma, Placement, Watch};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::iter::zip;
use std::rc::Rc;
use units::{Bytes, Time};

/// A point's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goodput {
    /// The node that sends.
    pub from: u32,
    /// The node to which it sends.
    pub to: u32,
    /// Message length, up to a packet's payload, between adapter memories.
    pub message: Bytes,
}

/// The probability that a number of bits arrive right over a link: products are equal to the bit on
/// all computers.
fn good(rate: f64, bits: u32) -> f64 {
    let (mut square, mut all) = (1.0 - rate, 1.0);
    for digit in 0..32 {
        if bits >> digit & 1 == 1 {
            all *= square;
        }
        square *= square;
    }
    all
}

/// The parameters of a packet's retransmissions and of the cost per attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Retransmission {
    /// The bit error probability on each link along the way.
    pub rates: Vec<f64>,
    /// Bits in the packet, in its header, and in the answer.
    pub bits: [u32; 3],
    /// The time for a refusal behind each link, from the packet's injection to the next.
    pub refused: Vec<f64>,
    /// The time from an injection to the next if the answer is lost.
    pub lost: f64,
}

impl Retransmission {
    /// The average time that errors add to a message, in the unit of the times.
    pub fn added(&self) -> f64 {
        let [packet, header, token] = self.bits;
        let links = self.rates.len();
        let (mut arrives, mut returns, mut added) = (1.0, 1.0, 0.0);
        for (place, (&rate, &refused)) in zip(&self.rates, &self.refused).enumerate() {
            returns *= good(rate, token);
            let here = if place + 1 < links {
                let passes = good(rate, header);
                let refuses = arrives * (1.0 - passes);
                arrives *= passes;
                refuses
            } else {
                // The bits that no switch has checked.
                let others = self.rates[..place].iter();
                let body: f64 = others.map(|&rate| good(rate, packet - header)).product();
                let all = body * good(rate, packet);
                let refuses = arrives * (1.0 - all);
                arrives *= all;
                refuses
            };
            added += here * (returns * refused + (1.0 - returns) * self.lost);
        }
        added += arrives * (1.0 - returns) * self.lost;
        added / (arrives * returns)
    }
}

impl Goodput {
    /// The goodput by the closed form. Only two messages run, on the idle machine without faults.
    ///
    /// # Errors
    /// See [`Failure`].
    ///
    /// # Panics
    /// If the network is not a tree.
    pub fn run(&self, cluster: &Cluster) -> Result<Records, Failure> {
        let alone = self.alone(cluster.config())?;
        let message = alone.as_us_f64() + self.stream(&cluster.config()).added();
        // A byte per microsecond is 1 MB/s.
        let goodput = self.message.as_u64() as f64 / message;
        let rows = vec![MetricRow::new("accepted", "MB/s", goodput)];
        Ok(Baseline::take(cluster).finish(cluster, rows.into()))
    }

    /// The stream in microseconds.
    fn stream(&self, config: &Config) -> Retransmission {
        let (topology, packet) = (&config.fabric.topology, &config.packet);
        let tree = topology.as_tree().expect("the network is a tree");
        let links = tree.distance(self.from, self.to) as usize;
        let levels = (0..links).map(|link| link.min(links - 1 - link));
        let flits = f64::from(packet.flits(self.message));
        let cycles = |cycles: f64| config.cycle.as_us_f64() * cycles;
        let (adapter, faults) = (&config.adapter, &config.fabric.faults);
        let mut stream = Retransmission {
            rates: Vec::new(),
            bits: [0; 3],
            refused: Vec::new(),
            lost: 0.0,
        };
        let mut travel = 0.0;
        for level in levels {
            travel += f64::from(config.fabric.hop_delay[level]);
            let mut rates = faults.iter().flat_map(|faults| &faults.bit_error_rates);
            let of_level = rates.find(|&&(link, _)| topology.link_level(link) == level);
            let rate = of_level.map_or(0.0, |&(_, rate)| rate);
            stream.rates.push(rate);
            let round = cycles(2.0 * travel + flits - 1.0);
            stream.refused.push(round + adapter.retry_delay.as_us_f64());
        }
        // A destination takes its time to answer, a switch does not.
        if let Some(last) = stream.refused.last_mut() {
            *last += adapter.turnaround.as_us_f64();
        }
        if let (Some(network), Some(faults)) = (faults, &config.faults) {
            let bits = packet.flits(self.message) * network.flit_bits;
            stream.bits = [bits, network.header_bits, network.token_bits];
            stream.lost = faults.timeout.as_us_f64() + faults.backoff.as_us_f64();
        }
        stream
    }

    /// The time for a message without errors, behind another one.
    fn alone(&self, mut config: Config) -> Result<Time, Failure> {
        (config.faults, config.fabric.faults) = (None, None);
        let mut cluster = Cluster::new(config, Watch::default());
        let capability = cluster.capability();
        let [from, to] = [self.from, self.to].map(|node| {
            let process = cluster.node(node.into()).attach(capability);
            process.expect("there are contexts for two")
        });
        let [source, sink] =
            [&from, &to].map(|node| node.reserve(Placement::Adapter, self.message).start());
        let (dma, time) = (
            Dma::new(source, sink, self.message),
            Rc::new(Cell::new(Time::ZERO)),
        );
        let told = Rc::clone(&time);
        cluster.spawn("two messages", async move {
            for _ in 0..2 {
                let posted = from.now();
                let sent = from.dma(dma).await;
                sent.expect("both buffers are of the message's length");
                told.set(from.now() - posted);
            }
        });
        cluster.run()?;
        Ok(time.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(rates: Vec<f64>) -> Retransmission {
        let refused = (1..=rates.len()).map(|links| links as f64).collect();
        Retransmission {
            rates,
            bits: [3000, 64, 16],
            refused,
            lost: 1000.0,
        }
    }

    #[test]
    fn nothing_is_added_without_errors() {
        assert!(stream(vec![0.0; 6]).added().abs() < f64::MIN_POSITIVE);
    }

    /// One link: no switch checks anything, and an attempt succeeds if packet and answer are whole.
    #[test]
    fn one_link_by_hand() {
        let rate: f64 = 1e-4;
        let (whole, back) = ((1.0 - rate).powi(3000), (1.0 - rate).powi(16));
        let fails = (1.0 - whole) * (back * 1.0 + (1.0 - back) * 1000.0);
        let expected = (fails + whole * (1.0 - back) * 1000.0) / (whole * back);
        let found = stream(vec![rate]).added();
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }

    /// Two links: the switch between them checks the header, the destination all bits on the second
    /// link, and the other bits on the first.
    #[test]
    fn two_links_by_hand() {
        let rates: [f64; 2] = [3e-4, 1e-4];
        let right = |link: usize, bits: i32| (1.0 - rates[link]).powi(bits);
        let heard = [right(0, 16), right(0, 16) * right(1, 16)];
        let passes = right(0, 64);
        let accepted = passes * right(0, 3000 - 64) * right(1, 3000);
        // The switch refuses, the destination refuses, the destination accepts.
        let refusal = |heard: f64, time: f64| heard * time + (1.0 - heard) * 1000.0;
        let fails = (1.0 - passes) * refusal(heard[0], 1.0)
            + (passes - accepted) * refusal(heard[1], 2.0)
            + accepted * (1.0 - heard[1]) * 1000.0;
        let expected = fails / (accepted * heard[1]);
        let found = stream(rates.to_vec()).added();
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }

    /// A game with the same rules, played with dice.
    #[test]
    fn many_links_by_dice() {
        let stream = stream(vec![1e-4, 5e-5, 0.0, 2e-4]);
        let mut dice = kernel::random::Stream::new(7, "goodput");
        let mut wrong = |rate: f64, bits: u32| dice.uniform_f64() >= (1.0 - rate).powf(bits.into());
        let ([packet, header, token], games) = (stream.bits, 200_000);
        let mut total = 0.0;
        for _ in 0..games {
            loop {
                let switch = (0..3).find(|&link| wrong(stream.rates[link], header));
                let end = switch.unwrap_or(3);
                let checked = |link| if link < 3 { header } else { 0 };
                let damaged = switch.is_some()
                    || (0..4).any(|link| wrong(stream.rates[link], packet - checked(link)));
                let unheard = (0..=end).any(|link| wrong(stream.rates[link], token));
                total += match (unheard, damaged) {
                    (true, _) => stream.lost,
                    (false, true) => stream.refused[end],
                    (false, false) => break,
                };
            }
        }
        let (found, expected) = (total / f64::from(games), stream.added());
        assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
    }
}
