//! A source of messages: arrival times and sizes drawn from its own streams.
//!
//! The program behind a source sends one message at a time. While the program lags, messages wait: the source draws a message
//! when the program takes it, when somebody asks how much has arrived, or when a generator asks for it at its arrival.

use crate::Distribution;
use kernel::random::Stream;
use std::collections::VecDeque;
use units::{Bytes, Rate, Time};

/// The largest DMA of an Elan3 (public headers: 2^31 - 1 bytes); larger draws are cut to this length.
pub const LARGEST_MESSAGE: Bytes = Bytes::new((1 << 31) - 1);

/// A message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// When the message is ready to be sent.
    pub arrival: Time,
    /// The message's length.
    pub size: Bytes,
}

/// The messages of one node, without end.
pub struct Source {
    mean_size: Bytes,
    sizes: Distribution,
    size_stream: Stream,
    mean_gap: Time,
    arrivals: Distribution,
    arrival_stream: Stream,
    /// When the next message arrives that has not been drawn.
    next: Time,
    /// The last message that has been drawn, and the bytes of all.
    last: Message,
    drawn: Bytes,
    /// Messages that have been drawn and not taken.
    waiting: VecDeque<Message>,
    taken: Bytes,
}

impl Source {
    /// A source that offers `load` on average. `path` names its random streams.
    pub fn new(
        seed: u64,
        path: &str,
        size: (Bytes, Distribution),
        load: Rate,
        arrivals: Distribution,
    ) -> Self {
        let mut arrival_stream = Stream::new(seed, &format!("{path}/arrivals"));
        let mean_gap = load.time(size.0);
        // The first message of each node arrives at a moment of its own, so that equal nodes do not move in step.
        let next = Time::from_ps((arrival_stream.uniform_f64() * mean_gap.as_ps() as f64) as u64);
        Source {
            mean_size: size.0,
            sizes: size.1,
            size_stream: Stream::new(seed, &format!("{path}/sizes")),
            mean_gap,
            arrivals,
            arrival_stream,
            next,
            last: Message {
                arrival: Time::ZERO,
                size: Bytes::ZERO,
            },
            drawn: Bytes::ZERO,
            waiting: VecDeque::new(),
            taken: Bytes::ZERO,
        }
    }

    /// When the next message arrives.
    pub fn next_arrival(&self) -> Time {
        self.waiting
            .front()
            .map_or(self.next, |message| message.arrival)
    }

    /// The message that arrives behind some waiting ones; no other may be missing between them.
    pub fn behind(&mut self, waiting: usize) -> Message {
        if self.waiting.len() == waiting {
            let message = self.draw();
            self.waiting.push_back(message);
        }
        self.waiting[waiting]
    }

    /// Takes the next message.
    pub fn take(&mut self) -> Message {
        let waiting = self.waiting.pop_front();
        let message = waiting.unwrap_or_else(|| self.draw());
        self.taken += message.size;
        message
    }

    fn draw(&mut self) -> Message {
        let mean = self.mean_size.as_u64();
        let size = match self.sizes {
            // Nothing else is drawn from the stream.
            Distribution::Fixed => mean.max(1),
            sizes => sizes.draw_count(mean, &mut self.size_stream),
        };
        let size = Bytes::new(size).min(LARGEST_MESSAGE);
        let message = Message {
            arrival: self.next,
            size,
        };
        self.last = message;
        self.drawn += size;
        let mean = self.mean_gap.as_ps();
        let gap = self.arrivals.draw_count(mean, &mut self.arrival_stream);
        self.next += Time::from_ps(gap);
        message
    }

    /// Bytes of all messages that arrive before the present. No message is taken before it arrives.
    pub fn arrived(&mut self, now: Time) -> Bytes {
        while self.next < now {
            let message = self.draw();
            self.waiting.push_back(message);
        }
        // No two messages arrive at the same time.
        if self.last.arrival < now {
            self.drawn
        } else {
            self.drawn - self.last.size
        }
    }

    /// Bytes of the messages taken so far.
    pub fn taken(&self) -> Bytes {
        self.taken
    }
}
