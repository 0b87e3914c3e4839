//! A run's events, for the program that has started the process manager: a JSON line each.

use crate::wire::RankNumber;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};

/// A run's event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum LaunchEvent {
    /// A rank's process has ended.
    Ended {
        /// The rank.
        rank: RankNumber,
        /// How, as `waitpid` gives it.
        status: i32,
    },
    /// A rank's process has ended before it called MPI, and left a child with its connection.
    Orphan {
        /// The rank.
        rank: RankNumber,
    },
    /// A rank's end makes the process manager end all others.
    Fatal {
        /// The rank.
        rank: RankNumber,
    },
    /// A rank has requested that all ranks end.
    Aborted {
        /// The rank.
        rank: RankNumber,
        /// The exit code that it wants.
        code: i32,
    },
    /// A rank could not be started, or has sent bytes that are not a request.
    Failed {
        /// The rank.
        rank: RankNumber,
        /// The failure.
        why: String,
    },
    /// The start makes no progress.
    Stalled {
        /// The ranks, and the reasons for their waits.
        why: String,
    },
}

/// Where reports go.
pub struct Reporter {
    to: File,
}

impl Reporter {
    /// Reports to a pipe or a file.
    pub fn new(to: File) -> Self {
        Reporter { to }
    }

    /// Reports an event.
    ///
    /// # Errors
    ///
    /// If the program that started this one does not read any more.
    pub fn report(&mut self, event: &LaunchEvent) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.to.write_all(&line)
    }
}
