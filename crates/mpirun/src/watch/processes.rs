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

    /// Whether at most one thread has run since a mark, no file was read, and the others sleep
    /// without an end.
    pub fn is_calm_since(&self, pid: u32, mark: &ProcessMark) -> bool {
        let same = |(now, then): (&ThreadMark, &ThreadMark)| now.thread == then.thread;
        if self.threads.len() != mark.threads.len()
            || self.reads != mark.reads
            || !self.threads.iter().zip(&mark.threads).all(same)
        {
            return false;
        }
        let pairs = self.threads.iter().zip(&mark.threads);
        let ran = pairs.filter(|(now, then)| now.ran != then.ran);
        let ran: Vec<u32> = ran.map(|(now, _)| now.thread).collect();
        let mut others = self.threads.iter().map(|thread| thread.thread);
        // A rank that waits for its turn sleeps with a time-out; it is the only thread then, or it
        // has run.
        let alone = self.threads.len() == 1;
        ran.len() <= 1
            && (alone || others.all(|thread| ran.contains(&thread) || sleeps_for_ever(pid, thread)))
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

/// Whether a thread sleeps in a system call that no time ends.
fn sleeps_for_ever(pid: u32, thread: u32) -> bool {
    let endless = |word: u64| (word as u32).cast_signed() < 0;
    let Some((number, arguments)) = system_call(pid, thread) else {
        return false;
    };
    match number {
        libc::SYS_futex => is_endless_futex(&arguments),
        libc::SYS_epoll_pwait => endless(arguments[3]),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_epoll_wait => endless(arguments[3]),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll => endless(arguments[2]),
        libc::SYS_ppoll => arguments[2] == 0,
        libc::SYS_pselect6 => arguments[4] == 0,
        libc::SYS_read | libc::SYS_accept | libc::SYS_accept4 | libc::SYS_recvmsg => true,
        _ => false,
    }
}

/// Whether these are the arguments for a wait on a word, without a time-out.
fn is_endless_futex(arguments: &[u64; 6]) -> bool {
    let operation = (arguments[1] as u32).cast_signed()
        & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    matches!(operation, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) && arguments[3] == 0
}

/// Whether all of a process's threads wait without an end for words in memory that no other process
/// reaches: its own locks, conditions and thread ends. Only a signal can wake such a process.
pub(crate) fn is_locked_up(pid: u32) -> bool {
    let Some(threads) = threads_of(pid) else {
        return false;
    };
    let Ok(maps) = fs::read_to_string(format!("/proc/{pid}/maps")) else {
        return false;
    };
    let is_own = |address: u64| {
        maps.lines().any(|line| {
            let mut words = line.split(' ');
            let range = words.next().and_then(|range| range.split_once('-'));
            let number = |text| u64::from_str_radix(text, 16).unwrap_or_default();
            range.is_some_and(|(from, to)| (number(from)..number(to)).contains(&address))
                && words.next().is_some_and(|rights| rights.ends_with('p'))
        })
    };
    threads.iter().all(|&thread| {
        system_call(pid, thread).is_some_and(|(number, arguments)| {
            number == libc::SYS_futex && is_endless_futex(&arguments) && is_own(arguments[0])
        })
    })
}
