//! A rank's threads, as the kernel shows them: proof that the rank's program cannot act any more.

use std::fs;

/// A process's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadMark {
    thread: u32,
    /// How long it has run, in nanoseconds.
    ran: u64,
}

/// A process's threads, and how often the process has read files and pipes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMark {
    threads: Vec<ThreadMark>,
    reads: u64,
}

impl ProcessMark {
    /// A process's present state; `None` if the kernel does not know it.
    pub fn take(pid: u32) -> Option<ProcessMark> {
        let mut threads = Vec::new();
        for thread in threads_of(pid)? {
            let ran = fs::read_to_string(format!("/proc/{pid}/task/{thread}/schedstat")).ok()?;
            let ran = ran.split(' ').next()?.parse().ok()?;
            threads.push(ThreadMark { thread, ran });
        }
        let said = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
        let reads = said.lines().find_map(|line| line.strip_prefix("syscr: "))?;
        Some(ProcessMark {
            threads,
            reads: reads.trim().parse().ok()?,
        })
    }

    /// Whether at most `others` threads have run since a mark besides those that look, no file was
    /// read, and the remaining threads wait without an end for words in the process's own memory.
    pub fn is_calm_since(
        &self,
        pid: u32,
        mark: &ProcessMark,
        lookers: &[u32],
        others: usize,
    ) -> bool {
        let same = |(now, then): (&ThreadMark, &ThreadMark)| now.thread == then.thread;
        if self.threads.len() != mark.threads.len()
            || self.reads != mark.reads
            || !self.threads.iter().zip(&mark.threads).all(same)
        {
            return false;
        }
        // A rank that waits for its turn sleeps with a time-out; it is the only thread then, or it
        // has run.
        if self.threads.len() == 1 {
            return true;
        }
        let pairs = self.threads.iter().zip(&mark.threads);
        let pairs = pairs.filter(|(now, _)| !lookers.contains(&now.thread));
        let (ran, still): (Vec<_>, Vec<_>) = pairs.partition(|(now, then)| now.ran != then.ran);
        if ran.len() > others {
            return false;
        }
        still.is_empty()
            || OwnMemory::of(pid)
                .is_some_and(|own| still.iter().all(|(now, _)| own.locks(now.thread)))
    }
}

fn threads_of(pid: u32) -> Option<Vec<u32>> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let names = entries.map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut threads: Vec<u32> = names.collect::<Option<_>>()?;
    threads.sort_unstable();
    Some(threads)
}

/// The system call in which a thread sleeps: its number and arguments.
fn system_call(pid: u32, thread: u32) -> Option<(i64, [u64; 6])> {
    let said = fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall")).ok()?;
    let mut words = said.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let mut arguments = [0; 6];
    for argument in &mut arguments {
        *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    }
    Some((number, arguments))
}

/// Whether these are the arguments for a wait on a word, without a time-out.
fn is_endless_futex(arguments: &[u64; 6]) -> bool {
    let operation = (arguments[1] as u32).cast_signed()
        & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    matches!(operation, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) && arguments[3] == 0
}

/// The memory that a process shares with no other one.
struct OwnMemory {
    pid: u32,
    /// Where its parts begin and end.
    parts: Vec<(u64, u64)>,
}

impl OwnMemory {
    fn of(pid: u32) -> Option<OwnMemory> {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        let part = |line: &str| {
            let mut words = line.split(' ');
            let (from, to) = words.next()?.split_once('-')?;
            let number = |text| u64::from_str_radix(text, 16).ok();
            let own = words.next().is_some_and(|rights| rights.ends_with('p'));
            Some((number(from)?, number(to)?)).filter(|_| own)
        };
        let parts = maps.lines().filter_map(part).collect();
        Some(OwnMemory { pid, parts })
    }

    /// Whether a thread waits without an end for a word here: a lock, a condition or a thread's
    /// end. Only the process's other threads, and signals, can wake it.
    fn locks(&self, thread: u32) -> bool {
        let call = system_call(self.pid, thread);
        call.is_some_and(|(number, arguments)| {
            let here = |&(from, to): &(u64, u64)| (from..to).contains(&arguments[0]);
            number == libc::SYS_futex && is_endless_futex(&arguments) && self.parts.iter().any(here)
        })
    }
}

/// Whether all of a process's threads wait without an end for words in memory that no other process
/// reaches. Only a signal can wake such a process.
pub(crate) fn is_locked_up(pid: u32) -> bool {
    let Some((threads, own)) = threads_of(pid).zip(OwnMemory::of(pid)) else {
        return false;
    };
    threads.iter().all(|&thread| own.locks(thread))
}
