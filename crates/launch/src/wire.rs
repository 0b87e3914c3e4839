//! PMI-1 as text: a request is a line `cmd=NAME key=value ...`, and so is its reply.
//!
//! The requests are those in MPICH's library (`src/pmi`), from version 3 to version 5. A request to
//! start more ranks has several lines ([`spawn`](crate::spawn)). Keys and values in the others
//! contain no spaces.
//!
//! One request is our own: `cmd=places first=NUMBER` precedes a request to start ranks, and has the
//! first one's number in the run. It has no reply.

use crate::spawn::{Lines, Spawn};
use std::fmt::{self, Display, Formatter};
use thiserror::Error;

/// The maximum length of a key in bytes, with the terminating zero.
pub const KEY: usize = 64;

/// The maximum length of a value in bytes, with the terminating zero. MPICH cuts longer values into
/// several.
pub const VALUE: usize = 1024;

/// The maximum length of the name of a key-value space in bytes, with the terminating zero.
pub const NAME: usize = 256;

/// The maximum length of a line in bytes.
pub const LINE: usize = 1 << 16;

/// A rank's number in the run: in `MPI_COMM_WORLD`, for the ranks with which the run began.
pub type RankNumber = u32;

/// The request [`RankRequest::Places`] as a line.
pub fn places(first: RankNumber) -> String {
    format!("cmd=places first={first}\n")
}

/// A rank's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankRequest {
    /// The rank begins to speak.
    Init,
    /// The maximum lengths of keys, values and names.
    Maxes,
    /// The number of the rank's program among the run's programs.
    ApplicationNumber,
    /// How many ranks the run may have.
    UniverseSize,
    /// The key-value space's name.
    SpaceName,
    /// The rank puts a value into the key-value space, and replaces another one.
    Put {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// The rank asks for a key's value.
    Get {
        /// The key.
        key: String,
    },
    /// The rank waits for all ranks in a group.
    Barrier {
        /// A rank list, and a tag behind a colon; empty for all ranks.
        group: String,
    },
    /// The rank makes no more requests.
    Finalize,
    /// All ranks are to end.
    Abort {
        /// The run's exit code.
        code: i32,
    },
    /// `MPI_Publish_name`.
    Publish {
        /// The name.
        service: String,
        /// The port that the name stands for.
        port: String,
    },
    /// `MPI_Unpublish_name`.
    Unpublish {
        /// The name.
        service: String,
    },
    /// `MPI_Lookup_name`.
    LookUp {
        /// The name.
        service: String,
    },
    /// The ranks that the next request starts have places in the simulation.
    Places {
        /// The first one's number in the run.
        first: RankNumber,
    },
    /// `MPI_Comm_spawn`.
    Spawn(Spawn),
}

/// A line that is not a request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The line has no end.
    #[error("a line of more than {LINE} bytes")]
    Long,
    /// Not a PMI-1 command.
    #[error("a line that is no request: {0:?}")]
    Unknown(String),
    /// The line, and the key that it lacks.
    #[error("a request without {1}: {0:?}")]
    Lacks(String, &'static str),
}

/// A reply to a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The rank is known.
    Init,
    /// The maximum lengths of names, keys and values.
    Maxes,
    /// The program's number among those that started together.
    ApplicationNumber(u32),
    /// As many ranks as the run may have.
    UniverseSize(u32),
    /// The key-value space's name.
    SpaceName(String),
    /// Whether the value was put, or why not.
    Put(Result<(), &'static str>),
    /// A key's value, if it has one.
    Get(Option<String>),
    /// All ranks in the group have entered the barrier.
    BarrierOut,
    /// The rank may go.
    Finalize,
    /// Whether the name was published, or why not.
    Publish(Result<(), &'static str>),
    /// Whether the name was removed, or why not.
    Unpublish(Result<(), &'static str>),
    /// A service's port, if it is published.
    LookUp(Option<String>),
    /// The ranks were started, or the reason why not.
    Spawn(Result<(), &'static str>),
}

/// Bytes from a rank's connection that are not a whole request yet.
#[derive(Debug, Default)]
pub struct RequestBuffer {
    bytes: Vec<u8>,
    /// The lines of a request for more ranks, if one has begun.
    spawn: Option<Lines>,
}

impl RequestBuffer {
    /// Adds bytes that have come.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next request, if it has come as a whole.
    ///
    /// # Errors
    ///
    /// If the bytes are not a PMI-1 request.
    pub fn next_request(&mut self) -> Result<Option<RankRequest>, RequestError> {
        while let Some(end) = self.bytes.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]);
            if let Some(lines) = &mut self.spawn {
                let is_whole = lines.add(&line);
                if is_whole.map_err(|key| RequestError::Lacks("mcmd=spawn".into(), key))? {
                    let spawn = lines.take();
                    self.spawn = None;
                    return Ok(Some(RankRequest::Spawn(spawn)));
                }
            } else if line.trim() == "mcmd=spawn" {
                self.spawn = Some(Lines::default());
            } else {
                return RankRequest::parse(line.trim()).map(Some);
            }
        }
        if self.bytes.len() > LINE {
            return Err(RequestError::Long);
        }
        Ok(None)
    }
}

impl RankRequest {
    fn parse(line: &str) -> Result<RankRequest, RequestError> {
        let field = |name: &str| {
            let mut words = line.split_ascii_whitespace();
            words.find_map(|word| word.strip_prefix(name)?.strip_prefix('=').map(String::from))
        };
        let need = |name: &'static str| {
            field(name).ok_or_else(|| RequestError::Lacks(shortened(line), name))
        };
        Ok(match field("cmd").as_deref() {
            Some("init") => RankRequest::Init,
            Some("get_maxes") => RankRequest::Maxes,
            Some("get_appnum") => RankRequest::ApplicationNumber,
            Some("get_universe_size") => RankRequest::UniverseSize,
            Some("get_my_kvsname") => RankRequest::SpaceName,
            Some("put") => RankRequest::Put {
                key: need("key")?,
                value: need("value")?,
            },
            Some("get") => RankRequest::Get { key: need("key")? },
            Some("barrier_in") => RankRequest::Barrier {
                group: field("group").unwrap_or_default(),
            },
            Some("finalize") => RankRequest::Finalize,
            Some("abort") => RankRequest::Abort {
                code: field("exitcode")
                    .and_then(|code| code.parse().ok())
                    .unwrap_or(1),
            },
            Some("publish_name") => RankRequest::Publish {
                service: need("service")?,
                port: need("port")?,
            },
            Some("unpublish_name") => RankRequest::Unpublish {
                service: need("service")?,
            },
            Some("lookup_name") => RankRequest::LookUp {
                service: need("service")?,
            },
            Some("places") => RankRequest::Places {
                first: need("first")?
                    .parse()
                    .map_err(|_| RequestError::Unknown(shortened(line)))?,
            },
            _ => return Err(RequestError::Unknown(shortened(line))),
        })
    }
}

/// The beginning of a line, for people.
fn shortened(line: &str) -> String {
    const MOST: usize = 80;
    line.chars().take(MOST).collect()
}

impl Display for Reply {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Init => write!(
                to,
                "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1"
            ),
            Reply::Maxes => write!(
                to,
                "cmd=maxes rc=0 kvsname_max={NAME} keylen_max={KEY} vallen_max={VALUE}"
            ),
            Reply::ApplicationNumber(number) => write!(to, "cmd=appnum rc=0 appnum={number}"),
            Reply::UniverseSize(size) => write!(to, "cmd=universe_size rc=0 size={size}"),
            Reply::SpaceName(name) => write!(to, "cmd=my_kvsname rc=0 kvsname={name}"),
            Reply::Put(Ok(())) => write!(to, "cmd=put_result rc=0 msg=success"),
            Reply::Put(Err(why)) => write!(to, "cmd=put_result rc=-1 msg={why}"),
            Reply::Get(Some(value)) => {
                write!(to, "cmd=get_result rc=0 msg=success value={value}")
            }
            Reply::Get(None) => write!(to, "cmd=get_result rc=-1 msg=key_not_found value=unknown"),
            Reply::BarrierOut => write!(to, "cmd=barrier_out rc=0"),
            Reply::Finalize => write!(to, "cmd=finalize_ack rc=0"),
            Reply::Publish(Ok(())) => write!(to, "cmd=publish_result rc=0 info=ok msg=success"),
            Reply::Publish(Err(why)) => write!(to, "cmd=publish_result rc=-1 info=no msg={why}"),
            Reply::Unpublish(Ok(())) => {
                write!(to, "cmd=unpublish_result rc=0 info=ok msg=success")
            }
            Reply::Unpublish(Err(why)) => {
                write!(to, "cmd=unpublish_result rc=-1 info=no msg={why}")
            }
            Reply::LookUp(Some(port)) => {
                write!(to, "cmd=lookup_result rc=0 info=ok msg=success port={port}")
            }
            Reply::LookUp(None) => {
                write!(to, "cmd=lookup_result rc=-1 info=no msg=not_published")
            }
            Reply::Spawn(Ok(())) => write!(to, "cmd=spawn_result rc=0"),
            Reply::Spawn(Err(why)) => write!(to, "cmd=spawn_result rc=-1 msg={why}"),
        }?;
        writeln!(to)
    }
}
