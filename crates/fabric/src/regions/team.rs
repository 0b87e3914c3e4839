//! A network's regions, and the threads that execute them.
//!
//! The program's thread takes part. In a *step* each thread reads the messages for its regions,
//! executes a *window* of cycles in them, and leaves their messages and their next cycles on the
//! *boards* of the regions. Then all threads meet. From the boards each thread finds the same
//! window for the next step: it begins with the earliest cycle with an event in any region, or with
//! a message. So one meeting a step suffices: even and odd steps use separate boxes and boards.
//!
//! A region and a box are each used by one thread at a time, and so their locks are always free.
//!
//! *Memory* is counted by thread ([`kernel::memory`]). The regions' tables do not count: a run's
//! bound is independent of the regions. Everything that threads allocate later counts in the
//! program's thread when they end.

use super::pace::Pace;
use crate::control::{Notice, Post};
use crate::motion::Motion;
use crate::network::{Network, SharedNodes, Simulation};
use crate::topology::CompiledRouting;
use crate::{Cycle, PacketId};
use kernel::memory;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, ScopedJoinHandle, panicking, scope, spawn};

/// A cycle that never comes.
const NEVER: Cycle = Cycle::MAX;

/// Bits in a word.
const WORD: usize = u64::BITS as usize;

/// A value alone in its cache lines.
#[repr(align(128))]
struct CacheAligned<T>(T);

/// A region, its nodes in a run, and its cycle's notices otherwise.
pub(super) struct Region<R: CompiledRouting + ?Sized, M: Motion> {
    pub running: Simulation<R, M>,
    nodes: Option<SharedNodes>,
    news: Vec<Notice>,
}

/// A region's notes for all threads after a step.
struct Board {
    /// The next cycle in which the region has something to do.
    next: AtomicU64,
    /// The first cycle for which the region has sent a message.
    sent: AtomicU64,
    /// The regions that have messages from this one, as bits.
    to: Vec<AtomicU64>,
}

impl Board {
    fn new(regions: usize) -> Self {
        Board {
            next: AtomicU64::new(NEVER),
            sent: AtomicU64::new(NEVER),
            to: (0..regions.div_ceil(WORD))
                .map(|_| AtomicU64::new(0))
                .collect(),
        }
    }

    /// Whether a region may have messages from this one.
    fn tells(&self, region: usize) -> bool {
        self.to[region / WORD].load(Ordering::Relaxed) >> (region % WORD) & 1 == 1
    }

    /// Marks a region as having messages from this one. No other thread writes here.
    fn tell(&self, region: usize) {
        let word = &self.to[region / WORD];
        let bits = word.load(Ordering::Relaxed) | 1 << (region % WORD);
        word.store(bits, Ordering::Relaxed);
    }

    /// No messages have been sent.
    fn clear(&self) {
        self.sent.store(NEVER, Ordering::Relaxed);
        for word in &self.to {
            word.store(0, Ordering::Relaxed);
        }
    }
}

/// The boards and message boxes for even steps, or for odd ones: a board per region, a box from
/// each region to each.
struct Side<P> {
    boards: Vec<CacheAligned<Board>>,
    boxes: Vec<CacheAligned<Mutex<Post<P>>>>,
}

impl<P> Side<P> {
    fn new(regions: usize) -> Self {
        let boxes = (0..regions * regions).map(|_| CacheAligned(Mutex::new(Post::new())));
        Side {
            boards: (0..regions)
                .map(|_| CacheAligned(Board::new(regions)))
                .collect(),
            boxes: boxes.collect(),
        }
    }

    /// The first cycle in which there is something to do.
    fn next(&self) -> Cycle {
        let both = |CacheAligned(board): &CacheAligned<Board>| {
            let [next, sent] = [&board.next, &board.sent].map(|at| at.load(Ordering::Relaxed));
            next.min(sent)
        };
        self.boards.iter().map(both).min().unwrap_or(NEVER)
    }

    /// The first cycle for which there is a message.
    fn sent(&self) -> Cycle {
        let sent = |CacheAligned(board): &CacheAligned<Board>| board.sent.load(Ordering::Relaxed);
        self.boards.iter().map(sent).min().unwrap_or(NEVER)
    }

    /// Whether there is a message for an earlier cycle than anything else.
    fn waits_for_messages(&self) -> bool {
        let next = |CacheAligned(board): &CacheAligned<Board>| board.next.load(Ordering::Relaxed);
        self.sent() < self.boards.iter().map(next).min().unwrap_or(NEVER)
    }
}

/// State shared by the threads.
struct Shared<R: CompiledRouting + ?Sized, M: Motion> {
    regions: Vec<CacheAligned<Mutex<Region<R, M>>>>,
    sides: [Side<R::Path>; 2],
    /// Cycles in a window.
    window: Cycle,
    threads: usize,
    /// Whether regions and messages are taken in the opposite order.
    reversed: AtomicBool,
    /// The last cycle to execute, or [`NEVER`] at the end.
    until: AtomicU64,
    /// Whether threads stop after a step.
    single: AtomicBool,
    /// Whether a thread has ended by a broken invariant.
    failed: AtomicBool,
    /// The program's orders, each thread's steps, and the orders that it has carried out.
    begun: Pace,
    stepped: Pace,
    ended: Pace,
}

/// See the module essay.
pub(super) struct Team<R: CompiledRouting + ?Sized, M: Motion> {
    shared: Arc<Shared<R, M>>,
    /// Each thread ends with its memory balance.
    workers: Vec<JoinHandle<i64>>,
    /// The regions' memory at the start.
    uncounted: i64,
    orders: u64,
    /// Steps done.
    steps: u64,
    /// The next cycle to execute.
    now: Cycle,
}

fn open<T>(CacheAligned(lock): &CacheAligned<Mutex<T>>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R: CompiledRouting + ?Sized, M: Motion> Shared<R, M> {
    /// A thread's regions.
    fn regions_of(&self, thread: usize) -> impl Iterator<Item = usize> {
        let count = self.regions.len();
        let reversed = self.reversed.load(Ordering::Relaxed);
        (thread..count).step_by(self.threads).map(move |number| {
            if reversed {
                // As many regions as before for each thread, but not the same ones.
                count - 1 - number
            } else {
                number
            }
        })
    }

    /// The side that step number `steps` reads.
    fn side(&self, steps: u64) -> &Side<R::Path> {
        &self.sides[(steps % 2) as usize]
    }

    /// A thread's step: a window of cycles in its regions.
    fn step(&self, thread: usize, steps: u64, from: Cycle, until: Cycle) {
        let end = until.min(from + (self.window - 1));
        for number in self.regions_of(thread) {
            let region = &mut *open(&self.regions[number]);
            region.running.skip_to(from);
            self.read(self.side(steps), number, region);
            Self::execute(region, end);
            let side = self.side(steps + 1);
            side.boards[number].0.clear();
            self.post(side, number, region);
        }
    }

    /// Executes a window in a region.
    fn execute(region: &mut Region<R, M>, end: Cycle) {
        let Region {
            running,
            nodes,
            news,
        } = region;
        if let Some(nodes) = nodes {
            let mut nodes = nodes.lock().unwrap_or_else(PoisonError::into_inner);
            running.run_nodes(&mut *nodes, end, news);
        } else if running.next_cycle().is_some_and(|next| next <= end) {
            running.advance(end, news);
        }
        running.skip_to(end.saturating_add(1));
    }

    /// Sends a region's messages, and notes its next cycle.
    fn post(&self, side: &Side<R::Path>, number: usize, region: &mut Region<R, M>) {
        let board = &side.boards[number].0;
        let first = region.running.control.send_all(|to, post| {
            board.tell(to);
            open(&side.boxes[number * self.regions.len() + to]).append(post);
        });
        let sent = board.sent.load(Ordering::Relaxed);
        board.sent.store(sent.min(first), Ordering::Relaxed);
        Self::look(side, number, region);
    }

    /// Notes a region's next cycle.
    fn look(side: &Side<R::Path>, number: usize, region: &Region<R, M>) {
        let next = region.running.next_cycle().unwrap_or(NEVER);
        let offers = region.nodes.as_ref().and_then(|nodes| {
            let nodes = nodes.lock().unwrap_or_else(PoisonError::into_inner);
            nodes.next()
        });
        let next = offers.map_or(next, |offers| next.min(offers));
        side.boards[number].0.next.store(next, Ordering::Relaxed);
    }

    /// Has a region read its messages.
    fn read(&self, side: &Side<R::Path>, number: usize, region: &mut Region<R, M>) {
        let count = self.regions.len();
        let reversed = self.reversed.load(Ordering::Relaxed);
        let Simulation { control, mover } = &mut region.running;
        for from in 0..count {
            let from = if reversed { count - 1 - from } else { from };
            if side.boards[from].0.tells(number) {
                let post = &mut *open(&side.boxes[from * count + number]);
                if reversed {
                    post.reverse();
                }
                control.receive(mover, post);
            }
        }
    }

    /// Carries out an order from the program.
    fn carry_out(&self, thread: usize, steps: &mut u64) {
        let until = self.until.load(Ordering::Relaxed);
        let single = self.single.load(Ordering::Relaxed);
        loop {
            let from = self.side(*steps).next();
            if from > until || self.failed.load(Ordering::Relaxed) {
                return;
            }
            self.step(thread, *steps, from, until);
            *steps += 1;
            self.stepped.set(thread, *steps);
            if single {
                return;
            }
            self.stepped.wait(*steps);
        }
    }

    /// A thread's work from its begin to its end.
    fn work(&self, thread: usize) {
        let mut steps = 0;
        for order in 1.. {
            self.begun.wait(order);
            if self.until.load(Ordering::Relaxed) == NEVER {
                return;
            }
            self.carry_out(thread, &mut steps);
            self.ended.set(thread, order);
        }
    }

    /// No other thread is to wait for a thread any more.
    fn leave(&self, thread: usize) {
        self.stepped.set(thread, u64::MAX);
        self.ended.set(thread, u64::MAX);
    }
}

/// If a thread ends by a broken invariant, no other thread waits for it.
struct Guard<'a, R: CompiledRouting + ?Sized, M: Motion>(&'a Shared<R, M>, usize);

impl<R: CompiledRouting + ?Sized, M: Motion> Drop for Guard<'_, R, M> {
    fn drop(&mut self) {
        if panicking() {
            self.0.failed.store(true, Ordering::SeqCst);
        }
        self.0.leave(self.1);
    }
}

impl<R: CompiledRouting + ?Sized + 'static, M: Motion + Send + 'static> Team<R, M> {
    /// The regions, and threads for them, including the present one. Several threads make the
    /// regions, the present one none: its memory count has none of them.
    pub fn new(
        count: usize,
        threads: usize,
        window: Cycle,
        region: impl Fn(usize) -> Simulation<R, M> + Sync,
    ) -> Self {
        let threads = threads.clamp(1, count);
        let region = &region;
        let make = |thread| {
            let regions = (thread..count).step_by(threads).map(region);
            (regions.collect::<Vec<_>>(), memory::balance())
        };
        let made: Vec<_> = scope(|scope| {
            let makers = (0..threads).map(|thread| scope.spawn(move || make(thread)));
            let makers: Vec<_> = makers.collect();
            let joined = makers.into_iter().map(ScopedJoinHandle::join);
            joined.map(|made| made.expect("a region is made")).collect()
        });
        let uncounted = made.iter().map(|&(_, bytes)| bytes).sum();
        let mut made: Vec<_> = made.into_iter().map(|(made, _)| made.into_iter()).collect();
        let regions = (0..count).map(|number| {
            let running = made[number % threads].next();
            CacheAligned(Mutex::new(Region {
                running: running.expect("a thread makes its regions"),
                nodes: None,
                news: Vec::new(),
            }))
        });
        let shared = Arc::new(Shared {
            regions: regions.collect(),
            sides: [Side::new(count), Side::new(count)],
            window,
            threads,
            reversed: AtomicBool::new(false),
            until: AtomicU64::new(0),
            single: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            begun: Pace::new(1),
            stepped: Pace::new(threads),
            ended: Pace::new(threads),
        });
        let workers = (1..threads).map(|thread| {
            let shared = Arc::clone(&shared);
            spawn(move || {
                let guard = Guard(&*shared, thread);
                shared.work(thread);
                drop(guard);
                memory::balance()
            })
        });
        Team {
            workers: workers.collect(),
            shared,
            uncounted,
            orders: 0,
            steps: 0,
            now: 0,
        }
    }

    /// The region count.
    pub fn count(&self) -> usize {
        self.shared.regions.len()
    }

    /// The side that the next step reads.
    fn side(&self) -> &Side<R::Path> {
        self.shared.side(self.steps)
    }

    /// Does something with a region, between two steps; its messages are sent.
    pub fn with<T>(&self, number: usize, act: impl FnOnce(&mut Simulation<R, M>) -> T) -> T {
        let region = &mut *open(&self.shared.regions[number]);
        region.running.skip_to(self.now);
        let value = act(&mut region.running);
        self.shared.post(self.side(), number, region);
        value
    }

    /// All regions, between two steps, with all messages read.
    pub fn all(&self) -> Vec<MutexGuard<'_, Region<R, M>>> {
        let mut all: Vec<_> = self.shared.regions.iter().map(open).collect();
        let side = self.side();
        for region in &mut all {
            region.running.skip_to(self.now);
        }
        loop {
            for (number, region) in all.iter_mut().enumerate() {
                self.shared.read(side, number, region);
            }
            for CacheAligned(board) in &side.boards {
                board.sent.store(NEVER, Ordering::Relaxed);
            }
            // Messages may have others as consequences.
            for (number, region) in all.iter_mut().enumerate() {
                self.shared.post(side, number, region);
            }
            if side.sent() == NEVER {
                return all;
            }
        }
    }

    /// The next cycle in which a region has something to do.
    pub fn next_cycle(&self) -> Option<Cycle> {
        if self.side().waits_for_messages() {
            // These may be inconsequential.
            drop(self.all());
        }
        let next = self.side().next();
        (next != NEVER).then_some(next)
    }

    /// Passes over cycles without events.
    pub fn skip_to(&mut self, cycle: Cycle) {
        self.now = self.now.max(cycle);
    }

    /// Has all threads carry out an order, to execute cycles up to `until`, or one step.
    fn order(&mut self, until: Cycle, single: bool) {
        let shared = &*self.shared;
        shared.until.store(until, Ordering::Relaxed);
        shared.single.store(single, Ordering::Relaxed);
        self.orders += 1;
        shared.begun.set(0, self.orders);
        shared.carry_out(0, &mut self.steps);
        shared.ended.set(0, self.orders);
        shared.ended.wait(self.orders);
        assert!(
            !shared.failed.load(Ordering::SeqCst),
            "a thread of the fabric has failed"
        );
        self.now = self.now.max(until.saturating_add(1));
    }

    /// Executes the next cycle, which is the named one, and returns the notices of all regions,
    /// with the packet numbers for adapters.
    pub fn execute(&mut self, cycle: Cycle, notices: &mut Vec<Notice>) {
        self.order(cycle, true);
        let count = self.count();
        for (number, region) in self.shared.regions.iter().enumerate() {
            let outside = |packet: PacketId| PacketId::at(packet.place() * count + number);
            let news = &mut open(region).news;
            notices.extend(news.drain(..).map(|notice| match notice {
                Notice::Delivered(packet, node, spec) => {
                    Notice::Delivered(outside(packet), node, spec)
                }
                Notice::Damaged(packet, node, spec) => Notice::Damaged(outside(packet), node, spec),
                notice => notice,
            }));
        }
    }

    /// Executes cycles up to `until`, with each region's nodes.
    pub fn run(&mut self, until: Cycle, nodes: &[SharedNodes]) {
        for (number, nodes) in nodes.iter().enumerate() {
            let region = &mut *open(&self.shared.regions[number]);
            region.nodes = Some(Arc::clone(nodes));
            Shared::look(self.side(), number, region);
        }
        self.order(until, false);
        for (number, region) in self.shared.regions.iter().enumerate() {
            let region = &mut *open(region);
            region.nodes = None;
            Shared::look(self.side(), number, region);
        }
    }

    /// Takes regions and messages in the opposite order from here on.
    pub fn reverse(&mut self) {
        self.shared.reversed.fetch_xor(true, Ordering::Relaxed);
    }
}

impl<R: CompiledRouting + ?Sized, M: Motion> Drop for Team<R, M> {
    fn drop(&mut self) {
        self.shared.until.store(NEVER, Ordering::Relaxed);
        self.shared.begun.set(0, u64::MAX);
        self.shared.leave(0);
        for worker in self.workers.drain(..) {
            // A thread that has failed has printed its reason.
            memory::take_over(worker.join().unwrap_or(0));
        }
        memory::take_over(self.uncounted);
    }
}
