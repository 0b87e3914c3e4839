//! A source of messages: arrival times and sizes drawn from its own streams.
//!
//! The program behind a source sends one message at a time. While the program lags, messages wait: the source draws a message
//! when the program takes it, when somebody asks how much has arrived, or when a generator asks for it at its arrival.
//!
//! A program registers a [`TrafficSource`] of its own under a name ([`register`]). A job in an experiment
//! file has the name in `source`. The name is a part of the identity of a point; the code behind it
//! is a part of the engine that the store notes.

use crate::Distribution;
use kernel::random::Stream;
use kernel::registry::Registry;
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

/// When the messages of a process arrive, and how long they are.
pub trait TrafficSource {
    /// The next message: at least one byte, later than the message before it.
    fn next(&mut self) -> Message;
}

/// The parameters of a job for the messages of one process.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// The seed of the run.
    pub seed: u64,
    /// The path of the process, which begins the names of its random streams.
    pub path: &'a str,
    /// Mean message size.
    pub message: Bytes,
    /// Distribution of message sizes.
    pub sizes: Distribution,
    /// Mean offered load of the process.
    pub load: Rate,
    /// Distribution of inter-arrival times.
    pub arrivals: Distribution,
}

/// Makes the source of a process. A source draws from streams of its own
/// ([`Stream`]), named below [`Offered::path`].
pub type Make = fn(&Offered<'_>) -> Box<dyn TrafficSource>;

static SOURCES: Registry<Make> = Registry::new();

/// Registers a source under a name, to be called before the first experiment file is read. A later
/// source takes the place of an earlier one with the same name.
pub fn register(name: &'static str, make: Make) {
    SOURCES.add(name, make);
}

/// The source with a name.
///
/// # Errors
/// The names of all registered sources, if this is none of them.
pub fn registered(name: &str) -> Result<Make, Vec<&'static str>> {
    SOURCES.get(name)
}

/// Sizes and gaps that are drawn independently of each other: the source of a job that names none.
struct Independent {
    mean_size: Bytes,
    sizes: Distribution,
    size_stream: Stream,
    mean_gap: Time,
    arrivals: Distribution,
    arrival_stream: Stream,
    /// When the next message arrives.
    next: Time,
}

impl Independent {
    fn new(offered: &Offered<'_>) -> Self {
        let Offered { seed, path, .. } = *offered;
        let mut arrival_stream = Stream::new(seed, &format!("{path}/arrivals"));
        let mean_gap = offered.load.time(offered.message);
        // The first message of each node arrives at a moment of its own, so that equal nodes do not move in step.
        let next = Time::from_ps((arrival_stream.uniform_f64() * mean_gap.as_ps() as f64) as u64);
        Independent {
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

impl TrafficSource for Independent {
    fn next(&mut self) -> Message {
        let mean = self.mean_size.as_u64();
        let size = match self.sizes {
            // Nothing else is drawn from the stream.
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

/// The messages of one node, without end.
pub struct Source {
    rule: Box<dyn TrafficSource>,
    /// The next message that has not been drawn.
    next: Message,
    /// The last message that has been drawn, and the bytes of all.
    last: Message,
    drawn: Bytes,
    /// Messages that have been drawn and not taken.
    waiting: VecDeque<Message>,
    taken: Bytes,
}

impl Source {
    /// A source that offers a load on average.
    pub fn new(offered: &Offered<'_>) -> Self {
        Source::of(Box::new(Independent::new(offered)))
    }

    /// The messages of any source.
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
            "a source makes {message:?} and then {:?}; messages have bytes and arrive one after another",
            self.next
        );
        message
    }

    /// Bytes of all messages that arrive before the present. No message is taken before it arrives.
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

    /// Bytes of the messages taken so far.
    pub fn taken(&self) -> Bytes {
        self.taken
    }
}
