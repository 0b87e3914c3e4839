//! A rank as a process: its start, its connection to the process manager, and its end.

#![expect(unsafe_code, reason = "a child prepares itself between fork and exec")]

use crate::space::VARIABLE;
use crate::wire::{RankNumber, RankRequest, RequestBuffer, RequestError};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The variable with a rank's number in the run.
pub const NUMBER_VARIABLE: &str = "ELANITE_RANK";

/// The program with which a run begins, and all that its ranks have in common.
pub struct LaunchProgram {
    /// Its name and its arguments.
    pub words: Vec<OsString>,
    /// Variables for ranks only.
    pub variables: Vec<(OsString, OsString)>,
    /// With how many ranks the run begins.
    pub ranks: u32,
    /// How many ranks there may be in all.
    pub room: u32,
    /// The memory kinds that the user requests of MPI.
    pub kinds: Option<String>,
    /// The ranks' limits on open files; this process's limits are higher.
    files: Rlimit,
    /// The number under which ranks find their connection: a descriptor of this process, so that
    /// the number is free in a child.
    place: File,
}

impl LaunchProgram {
    /// Raises this process's limit on open files to the user's maximum: each rank takes two.
    ///
    /// # Errors
    ///
    /// If this process has too many open files.
    pub fn new(
        words: Vec<OsString>,
        variables: Vec<(OsString, OsString)>,
        (ranks, room): (u32, u32),
    ) -> io::Result<Self> {
        let files = rustix::process::getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: files.maximum,
            maximum: files.maximum,
        };
        // If the system refuses, the start of a rank will fail.
        let _ = rustix::process::setrlimit(Resource::Nofile, raised);
        Ok(LaunchProgram {
            words,
            variables,
            ranks,
            room,
            kinds: None,
            files,
            place: File::open("/dev/null")?,
        })
    }
}

/// A rank that is to start.
pub struct Start<'a> {
    /// Its number in the run.
    pub rank: RankNumber,
    /// Its world: the first rank's number, and the rank count.
    pub world: (RankNumber, u32),
    /// The file with the world's key-value space.
    pub space: String,
    /// The program and its arguments.
    pub words: &'a [OsString],
    /// The folder in which it starts, if not in this process's folder.
    pub folder: Option<&'a Path>,
}

/// An event source of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSource {
    /// A rank's connection.
    Connection(RankNumber),
    /// The end of a rank.
    End(RankNumber),
}

impl EventSource {
    fn data(self) -> EventData {
        EventData::new_u64(match self {
            EventSource::Connection(rank) => u64::from(rank) << 1,
            EventSource::End(rank) => u64::from(rank) << 1 | 1,
        })
    }

    /// The source that an event names.
    pub fn of(data: EventData) -> Self {
        let rank = (data.u64() >> 1) as RankNumber;
        if data.u64() & 1 == 0 {
            EventSource::Connection(rank)
        } else {
            EventSource::End(rank)
        }
    }
}

/// A rank that runs or has run.
pub struct RankProcess {
    rank: RankNumber,
    child: Child,
    /// Readable when the process has ended.
    descriptor: OwnedFd,
    connection: Option<UnixStream>,
    incoming: RequestBuffer,
    /// Replies that the connection has not taken yet.
    outgoing: Vec<u8>,
    /// Whether the loop is notified when the connection takes more.
    waits: bool,
    status: Option<i32>,
}

impl RankProcess {
    /// Starts a rank.
    ///
    /// # Errors
    ///
    /// If the system refuses another process or another open file, or if the program cannot be run.
    pub fn start(
        program: &LaunchProgram,
        start: &Start,
        poll: &OwnedFd,
    ) -> io::Result<RankProcess> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let place = program.place.as_raw_fd();
        let &Start {
            rank,
            world: (base, ranks),
            ..
        } = start;
        let (first, others) = start
            .words
            .split_first()
            .ok_or(io::Error::from(ErrorKind::InvalidInput))?;
        let mut command = Command::new(first);
        command
            .args(others)
            .envs(program.variables.iter().map(|(name, value)| (name, value)))
            .env("PMI_FD", place.to_string())
            .env("PMI_RANK", (rank - base).to_string())
            .env("PMI_SIZE", ranks.to_string())
            .env("MPI_LOCALRANKID", (rank - base).to_string())
            .env("MPI_LOCALNRANKS", ranks.to_string())
            .env(NUMBER_VARIABLE, rank.to_string())
            .env(VARIABLE, &start.space)
            // Fortran's units 5 and 6 as a rank's user expects them: lines appear when written.
            .env("GFORTRAN_UNBUFFERED_PRECONNECTED", "y");
        if base > 0 {
            command.env("PMI_SPAWNED", "1");
        }
        if let Some(folder) = start.folder {
            command.current_dir(folder);
        }
        if rank > 0 {
            command.stdin(Stdio::null());
        }
        let connection = theirs.as_raw_fd();
        let parent = std::process::id();
        let files = program.files;
        let prepare = move || {
            rustix::process::setsid()?;
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if rustix::process::getppid().map(Pid::as_raw_pid) != Some(parent.cast_signed()) {
                // This process died before the kernel watched it.
                return Err(io::Error::from(ErrorKind::BrokenPipe));
            }
            rustix::process::setrlimit(Resource::Nofile, files)?;
            // SAFETY: both are open descriptors, and `place` has no other use in the child.
            match unsafe { libc::dup2(connection, place) } {
                -1 => Err(io::Error::last_os_error()),
                _ => Ok(()),
            }
        };
        // SAFETY: the closure makes system calls, and neither allocates nor takes locks.
        let child = unsafe { command.pre_exec(prepare) }.spawn()?;
        let pid = Pid::from_child(&child);
        let descriptor = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        epoll::add(
            poll,
            &descriptor,
            EventSource::End(rank).data(),
            EventFlags::IN,
        )?;
        epoll::add(
            poll,
            &ours,
            EventSource::Connection(rank).data(),
            EventFlags::IN,
        )?;
        Ok(RankProcess {
            rank,
            child,
            descriptor,
            connection: Some(ours),
            incoming: RequestBuffer::default(),
            outgoing: Vec::new(),
            waits: false,
            status: None,
        })
    }

    /// The process number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether a process still has the other end of the connection.
    pub fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    /// How the process ended, as `waitpid` gives it.
    pub fn status(&self) -> Option<i32> {
        self.status
    }

    /// Reads all bytes that have come. A closed connection is not an error.
    ///
    /// # Errors
    ///
    /// If the system fails to read.
    pub fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1 << 12];
        while let Some(connection) = &mut self.connection {
            match connection.read(&mut buffer) {
                Ok(0) => self.connection = None,
                Ok(count) => self.incoming.extend(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => self.connection = None,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next request that has come as a whole.
    ///
    /// # Errors
    ///
    /// If the bytes are not a request; the connection is closed then.
    pub fn next_request(&mut self) -> Result<Option<RankRequest>, RequestError> {
        let next = self.incoming.next_request();
        if next.is_err() {
            self.connection = None;
        }
        next
    }

    /// Sends a reply, or as much of it as the connection takes.
    ///
    /// # Errors
    ///
    /// If the system fails to write to a rank that lives.
    pub fn reply(&mut self, text: &str, poll: &OwnedFd) -> io::Result<()> {
        self.outgoing.extend_from_slice(text.as_bytes());
        if self.waits {
            return Ok(());
        }
        self.flush(poll)
    }

    /// Sends the rest of earlier replies.
    ///
    /// # Errors
    ///
    /// If the system fails to write to a rank that lives.
    pub fn flush(&mut self, poll: &OwnedFd) -> io::Result<()> {
        let Some(connection) = &mut self.connection else {
            self.outgoing.clear();
            return Ok(());
        };
        let mut sent = 0;
        while sent < self.outgoing.len() {
            match connection.write(&self.outgoing[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // The rank has ended.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
                    ) =>
                {
                    sent = self.outgoing.len();
                }
                Err(error) => return Err(error),
            }
        }
        self.outgoing.drain(..sent);
        let waits = !self.outgoing.is_empty();
        if std::mem::replace(&mut self.waits, waits) != waits {
            let mut interest = EventFlags::IN;
            interest.set(EventFlags::OUT, waits);
            let source = EventSource::Connection(self.rank);
            epoll::modify(poll, connection, source.data(), interest)?;
        }
        Ok(())
    }

    /// Records the process's end. Returns how it ended.
    ///
    /// # Errors
    ///
    /// If the system does not report how.
    pub fn reap(&mut self, poll: &OwnedFd) -> io::Result<i32> {
        epoll::delete(poll, &self.descriptor)?;
        let status = self.child.wait()?.into_raw();
        self.status = Some(status);
        Ok(status)
    }

    /// Kills the process, and all that it has started in its session.
    pub fn kill(&self) {
        if self.status.is_none() {
            // The process may have ended in this moment.
            let pid = Pid::from_child(&self.child);
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
    }
}

/// A program's name, for people.
pub fn name(words: &[OsString]) -> String {
    let first = words.first().map_or(OsStr::new(""), OsString::as_os_str);
    first.to_string_lossy().into_owned()
}
