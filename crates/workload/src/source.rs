//! A message source: arrival times and sizes drawn from its own streams.
//!
//! The program behind a source sends one message at a time. While the program lags, messages wait:
//! the source draws a message when the program takes it, when somebody asks how much has arrived,
//! or when a generator asks for it at its arrival.
//!
//! A program registers its own [`TrafficSource`] under a name ([`register`]). A job in an
//! experiment file gives the name in `source`. The name is part of a point's identity; the code
//! behind it is part of the engine that the store records.

use crate::Distribution;
use kernel::random::Stream;
use kernel::registry::Registry;
use std::collections::VecDeque;
use units::{Bytes, Rate, Time};

/// An Elan3's largest DMA (public headers: 2^31 - 1 bytes); larger draws are cut to this length.
pub const LARGEST_MESSAGE: Bytes = Bytes::new((1 << 31) - 1);

/// A message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// When the message is ready to be sent.
    pub arrival: Time,
    /// The message's length.
    pub size: Bytes,
}

/// Arrival times and lengths of a process's messages.
pub trait TrafficSource {
    /// The next message: at least one byte, later than the message before it.
    fn next(&mut self) -> Message;
}

/// A job's parameters for one process's messages.
#[derive(Clone, Copy, Debug)]
pub struct JobOffer<'a> {
    /// The run's seed.
    pub seed: u64,
    /// The process's path, which begins its random streams' names.
    pub path: &'a str,
    /// Mean message size.
    pub message: Bytes,
    /// Message size distribution.
    pub sizes: Distribution,
    /// The process's mean offered load.
    pub load: Rate,
    /// Inter-arrival time distribution.
    pub arrivals: Distribution,
}

/// Makes a process's source. A source draws from its own streams ([`Stream`]), named below
/// [`JobOffer::path`].
pub type SourceFactory = fn(&JobOffer<'_>) -> Box<dyn TrafficSource>;

static SOURCES: Registry<SourceFactory> = Registry::new();

/// Registers a source under a name, to be called before the first experiment file is read. A later
/// source replaces an earlier one with the same name.
pub fn register(name: &'static str, make: SourceFactory) {
    SOURCES.add(name, make);
}

/// The source with a name.
///
/// # Errors
/// All registered sources' names, if this name is not among them.
pub fn registered(name: &str) -> Result<SourceFactory, Vec<&'static str>> {
    SOURCES.get(name)
}

/// Independently drawn sizes and gaps: the source for a job that does not name one.
struct RandomSource {
    mean_size: Bytes,
    sizes: Distribution,
    size_stream: Stream,
    mean_gap: Time,
    arrivals: Distribution,
    arrival_stream: Stream,
    /// When the next message arrives.
    next: Time,
}

impl RandomSource {
    fn new(offered: &JobOffer<'_>) -> Self {
        let JobOffer { seed, path, .. } = *offered;
        let mut arrival_stream = Stream::new(seed, &format!("{path}/arrivals"));
        let mean_gap = offered.load.time(offered.message);
        // Each node's first message arrives at a different moment, so that equal nodes do not move
        // in step.
        let next = Time::from_ps((arrival_stream.uniform_f64() * mean_gap.as_ps() as f64) as u64);
        RandomSource {
            mean_size: offered.message,
            sizes: offered.sizes,
            size_stream: Stream::new(seed, &format!("{path}/sizes")),
            mean_gap,
            arrivals: offered.arrivals,
            arrival_stream,
            next,
        }
    }
}

impl TrafficSource for RandomSource {
    fn next(&mut self) -> Message {
        let mean = self.mean_size.as_u64();
        let size = match self.sizes {
            // The stream has no other draws.
            Distribution::Fixed => mean.max(1),
            sizes => sizes.draw_count(mean, &mut self.size_stream),
        };
        let arrival = self.next;
        let mean = self.mean_gap.as_ps();
        let gap = self.arrivals.draw_count(mean, &mut self.arrival_stream);
        self.next += Time::from_ps(gap);
        let size = Bytes::new(size);
        Message { arrival, size }
    }
}

/// One node's messages, without end.
pub struct Source {
    rule: Box<dyn TrafficSource>,
    /// The next message that has not been drawn.
    next: Message,
    /// The last message drawn, and all messages' bytes.
    last: Message,
    drawn: Bytes,
    /// Messages that have been drawn and not taken.
    waiting: VecDeque<Message>,
    taken: Bytes,
}

impl Source {
    /// A source that offers a load on average.
    pub fn new(offered: &JobOffer<'_>) -> Self {
        Source::of(Box::new(RandomSource::new(offered)))
    }

    /// The messages from any source.
    pub fn of(mut rule: Box<dyn TrafficSource>) -> Self {
        Source {
            next: rule.next(),
            rule,
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
            .map_or(self.next.arrival, |message| message.arrival)
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
        let message = Message {
            size: self.next.size.min(LARGEST_MESSAGE),
            ..self.next
        };
        self.last = message;
        self.drawn += message.size;
        self.next = self.rule.next();
        assert!(
            self.next.arrival > message.arrival && !message.size.is_zero(),
            "a source makes {message:?} and then {:?}; messages have bytes and arrive one after \
            another",
            self.next
        );
        message
    }

    /// Bytes in all messages that arrive before the present. No message is taken before it arrives.
    pub fn arrived(&mut self, now: Time) -> Bytes {
        while self.next.arrival < now {
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

    /// Bytes in the messages taken so far.
    pub fn taken(&self) -> Bytes {
        self.taken
    }
}
