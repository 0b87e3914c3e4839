//! The process manager's answers that the rank finds by itself, in the key-value space's file.
//!
//! MPICH asks for each rank's address, one after the other: `cmd=get kvsname=... key=...`, and a
//! line with the value. Where the value is in the file (see the crate `launch`), the request is not
//! sent, and the reply comes from here when MPICH reads it.

use launch::space::{Reader, VARIABLE};
use launch::wire::Reply;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

/// How a request for a value begins.
const GET: &[u8] = b"cmd=get ";
const KEY: &[u8] = b"key=";

/// Whether MPICH has read a reply by this library's function: otherwise it would not find ours.
static READS: AtomicBool = AtomicBool::new(false);

/// The file, and the reply that has not been read. A signal handler that comes while the lock is
/// held goes past it.
static SPACE: LazyLock<Mutex<Option<Space>>> = LazyLock::new(|| {
    let path = std::env::var(VARIABLE).ok();
    let reader = path.and_then(|path| Reader::open(&path).ok());
    Mutex::new(reader.map(Space::new))
});

struct Space {
    reader: Reader,
    /// Whether there may be a later edition.
    is_old: bool,
    reply: Vec<u8>,
}

impl Space {
    fn new(reader: Reader) -> Self {
        Space {
            reader,
            is_old: true,
            reply: Vec::new(),
        }
    }

    fn answer(&mut self, request: &[u8]) -> Option<()> {
        let line = request.strip_prefix(GET)?.strip_suffix(b"\n")?;
        let mut words = line.split(|&byte| byte == b' ');
        let key = words.find_map(|word| word.strip_prefix(KEY))?;
        let key = std::str::from_utf8(key).ok()?;
        if !self.reply.is_empty() {
            return None;
        }
        if self.is_old {
            self.reader.renew().ok()?;
            self.is_old = false;
        }
        let value = self.reader.get(key)?;
        let reply = Reply::Get(Some(value.into())).to_string();
        self.reply = reply.into_bytes();
        Some(())
    }
}

/// Whether a request is answered here. The reply is read next.
pub fn answers(request: &[u8]) -> bool {
    READS.load(Ordering::Relaxed)
        && SPACE.try_lock().is_ok_and(|mut space| {
            space
                .as_mut()
                .and_then(|space| space.answer(request))
                .is_some()
        })
}

/// The rank enters a barrier: others' earlier puts are in a later edition.
pub fn enters_barrier() {
    if let Ok(mut space) = SPACE.try_lock()
        && let Some(space) = space.as_mut()
    {
        space.is_old = true;
    }
}

/// Takes at most this many bytes from a reply; `None` if the process manager is to be read.
pub fn take(most: usize) -> Option<Vec<u8>> {
    READS.store(true, Ordering::Relaxed);
    let mut space = SPACE.try_lock().ok()?;
    let reply = &mut space.as_mut()?.reply;
    let count = reply.len().min(most);
    (count > 0).then(|| reply.drain(..count).collect())
}
