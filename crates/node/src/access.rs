//! Operations on files, as the program and its libraries call them: each takes the time of the
//! machine's file system.
//!
//! The system carries a call out on this host's files, and then the rank waits in simulated time
//! until the machine's file system has also carried it out ([`rank::session::Session::access`]). A
//! machine without a file system takes no time; then the operations are only counted, and the run's
//! summary reports this.
//!
//! | counts | does not |
//! |---|---|
//! | regular files | directories, pipes, sockets, terminals; standard input, output and error |
//! | file systems on a disk or in memory, such as `/tmp` | `/proc`, `/sys`, `/dev` with `/dev/shm`, files without a name in memory |
//! | calls after MPI has been initialised, by the program and its libraries (MPI-IO, the interpreter's modules) | calls before that, those within MPI's start and end, the loader's own |
//! | calls that succeed | calls that fail; `fstat`, `lseek`, `mmap` |
//!
//! Calls by threads that do not call MPI, and calls after MPI's end, take no time, and count as
//! untimed. Asynchronous operations (`aio_read`, nonblocking MPI-IO) take their time when they
//! begin: they do not overlap with the program.

use super::places::{are_open, stands};
use libc::{c_char, c_int, c_long, c_uint, iovec, off_t, size_t, ssize_t};
use link::FileAccess;
use rank::session::{self, Session};
use rank::system::{FIRST, SystemFunction};
use rank::{compute, next, thread};
use std::ffi::c_void;
use std::sync::LazyLock;

/// The devices with files that belong to the host and not to the machine's file system.
static HOSTS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let device = |path: &std::ffi::CStr| {
        let found = status_at(libc::AT_FDCWD, path.as_ptr(), 0);
        found.map(|status| status.st_dev)
    };
    let own = [c"/proc", c"/sys", c"/dev", c"/dev/shm"];
    let root = device(c"/");
    let mut devices: Vec<u64> = own.iter().filter_map(|path| device(path)).collect();
    devices.retain(|&device| Some(device) != root);
    // SAFETY: a new file without a name, which is closed again.
    unsafe {
        let name = c"elanite".as_ptr();
        let file = libc::syscall(libc::SYS_memfd_create, name, libc::MFD_CLOEXEC) as c_int;
        devices.extend(status(file).map(|status| status.st_dev));
        libc::syscall(libc::SYS_close, file);
    }
    devices
});

/// An open file's status, past the functions below.
fn status(file: c_int) -> Option<libc::stat> {
    let mut found = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel fills the place if it returns 0.
    unsafe {
        (libc::syscall(libc::SYS_fstat, file, found.as_mut_ptr()) == 0).then(|| found.assume_init())
    }
}

/// A file's status by its name, past the functions below.
fn status_at(folder: c_int, path: *const c_char, flags: c_int) -> Option<libc::stat> {
    let mut found = std::mem::MaybeUninit::<libc::stat>::uninit();
    let place = found.as_mut_ptr();
    // SAFETY: the kernel checks the name, and fills the place if it returns 0.
    unsafe {
        (libc::syscall(libc::SYS_newfstatat, folder, path, place, flags) == 0)
            .then(|| found.assume_init())
    }
}

/// Whether operations on a file count.
fn counts(status: Option<libc::stat>) -> bool {
    status.is_some_and(|status| {
        status.st_mode & libc::S_IFMT == libc::S_IFREG && !HOSTS.contains(&status.st_dev)
    })
}

/// Whether operations on an open file count.
pub fn is_counted(file: c_int) -> bool {
    file > libc::STDERR_FILENO && counts(status(file))
}

fn is_counted_at(folder: c_int, path: *const c_char, flags: c_int) -> bool {
    !path.is_null() && counts(status_at(folder, path, flags))
}

/// Where an open file stands.
pub fn place(file: c_int) -> u64 {
    // SAFETY: it only asks.
    let place: c_long = unsafe { libc::syscall(libc::SYS_lseek, file, 0, libc::SEEK_CUR) };
    u64::try_from(place).unwrap_or_default()
}

/// The session in which this thread's operations on files count.
pub fn counting() -> Option<&'static Session> {
    let session = session::shown()?;
    (!session::is_held() && !thread::begins_or_ends()).then_some(session)
}

/// Whether this thread's operations take simulated time.
fn is_timed(session: &Session) -> bool {
    session.settings().files && thread::drives_time()
}

/// The program is about to carry out an operation that counts: its computation so far comes before.
pub fn begins(session: &Session) {
    if is_timed(session) && thread::outside() {
        compute::settle(session);
        thread::acted();
    }
}

/// The host has carried out an operation that counts.
pub fn ends(session: &Session, access: FileAccess) {
    // SAFETY: the place of this thread's error number.
    let error = unsafe { *libc::__errno_location() };
    // A child that shares its parent's memory (vfork) is not a rank.
    if session.is_own() && !(is_timed(session) && session.access(access)) {
        session.untimed(access);
    }
    thread::waited();
    // SAFETY: the same place.
    unsafe { *libc::__errno_location() = error };
}

/// Carries out an operation on a file, if it counts.
fn on_file<R: Copy>(
    looks: impl FnOnce() -> bool,
    call: impl FnOnce() -> R,
    did: impl FnOnce(R) -> Option<FileAccess>,
) -> R {
    let Some(session) = counting().filter(|_| looks()) else {
        return call();
    };
    begins(session);
    let result = call();
    if let Some(access) = did(result) {
        ends(session, access);
    }
    result
}

/// An operation without bytes, unless it has failed.
fn plain(result: c_int) -> Option<FileAccess> {
    (result >= 0).then(FileAccess::default)
}

/// A file has been opened; `-1` if it has not.
pub fn opened(file: c_int) -> c_int {
    if let Some(session) = counting().filter(|_| is_counted(file)) {
        ends(session, FileAccess::default());
    }
    file
}

/// The direction of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// From a file.
    Read,
    /// To a file.
    Write,
}

impl AccessMode {
    /// An operation with bytes.
    pub fn access(self, offset: u64, bytes: u64) -> FileAccess {
        let (read, written) = match self {
            AccessMode::Read => (bytes, 0),
            AccessMode::Write => (0, bytes),
        };
        FileAccess {
            offset,
            read,
            written,
        }
    }
}

/// Bytes that have moved from an offset, or from where the file stood; `None` if the call has
/// failed.
fn moved(
    way: AccessMode,
    file: c_int,
    offset: Option<off_t>,
    bytes: ssize_t,
) -> Option<FileAccess> {
    let bytes = u64::try_from(bytes).ok()?;
    let offset = if let Some(offset) = offset {
        offset.cast_unsigned()
    } else if are_open() || session::shown().is_some_and(|session| session.settings().files) {
        let now = place(file);
        stands(file, now);
        now.saturating_sub(bytes)
    } else {
        // Only a file system and streams of C have a use for it.
        0
    };
    Some(way.access(offset, bytes))
}

/// Carries out the program's `read` or `write`, with entry points in the crate `fi`: a call on a
/// file takes its time.
pub fn moves(way: AccessMode, file: c_int, call: impl FnOnce() -> ssize_t) -> ssize_t {
    on_file(
        || is_counted(file),
        call,
        |bytes| moved(way, file, None, bytes),
    )
}

// The callers of the functions below keep to the C library's manual pages.

/// Functions that move bytes, with the offset in the file if they have one.
macro_rules! moves {
    (
        $($way:ident $offset:expr, fn $name:ident($file:ident $(, $argument:ident: $type:ty)*);)*
    ) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($file: c_int $(, $argument: $type)*) -> ssize_t {
            static NEXT: SystemFunction = SystemFunction::new(
                // SAFETY: it ends with the only 0.
                unsafe {
                    std::ffi::CStr::from_bytes_with_nul_unchecked(
                        concat!(stringify!($name), "\0").as_bytes()
                    )
                },
                FIRST,
            );
            on_file(
                || is_counted($file),
                || next!(NEXT, fn($file => c_int $(, $argument => $type)*) -> ssize_t, -1),
                |bytes| moved(AccessMode::$way, $file, $offset, bytes),
            )
        }
    )*};
}

moves! {
    Read None, fn __read_chk(file, bytes: *mut c_void, count: size_t, room: size_t);
    Read None, fn readv(file, parts: *const iovec, count: c_int);
    Read Some(offset), fn pread(file, bytes: *mut c_void, count: size_t, offset: off_t);
    Read Some(offset), fn pread64(file, bytes: *mut c_void, count: size_t, offset: off_t);
    Read Some(offset), fn __pread_chk(
        file, bytes: *mut c_void, count: size_t, offset: off_t, room: size_t
    );
    Read Some(offset), fn __pread64_chk(
        file, bytes: *mut c_void, count: size_t, offset: off_t, room: size_t
    );
    Read Some(offset), fn preadv(file, parts: *const iovec, count: c_int, offset: off_t);
    Read Some(offset), fn preadv64(file, parts: *const iovec, count: c_int, offset: off_t);
    Read given(offset), fn preadv2(
        file, parts: *const iovec, count: c_int, offset: off_t, flags: c_int
    );
    Read given(offset), fn preadv64v2(
        file, parts: *const iovec, count: c_int, offset: off_t, flags: c_int
    );
    Write None, fn writev(file, parts: *const iovec, count: c_int);
    Write Some(offset), fn pwrite(file, bytes: *const c_void, count: size_t, offset: off_t);
    Write Some(offset), fn pwrite64(file, bytes: *const c_void, count: size_t, offset: off_t);
    Write Some(offset), fn pwritev(file, parts: *const iovec, count: c_int, offset: off_t);
    Write Some(offset), fn pwritev64(file, parts: *const iovec, count: c_int, offset: off_t);
    Write given(offset), fn pwritev2(
        file, parts: *const iovec, count: c_int, offset: off_t, flags: c_int
    );
    Write given(offset), fn pwritev64v2(
        file, parts: *const iovec, count: c_int, offset: off_t, flags: c_int
    );
}

/// The offset in a call that takes -1 for the place where the file stands.
fn given(offset: off_t) -> Option<off_t> {
    (offset != -1).then_some(offset)
}

/// The offset at a place; `None` for no place, and so for where the file stands.
///
/// # Safety
/// The place must be null or an offset's.
unsafe fn at(place: *const off_t) -> Option<off_t> {
    // SAFETY: as the caller's.
    unsafe { place.as_ref() }.copied()
}

/// Functions that copy from one file to another in the kernel: a read, and then a write.
macro_rules! copies {
    ($(
        fn $name:ident($($argument:ident: $type:ty),*), from $from:ident $read:expr,
        to $to:ident $written:expr;
    )*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($($argument: $type),*) -> ssize_t {
            static NEXT: SystemFunction = SystemFunction::new(
                // SAFETY: it ends with the only 0.
                unsafe {
                    std::ffi::CStr::from_bytes_with_nul_unchecked(
                        concat!(stringify!($name), "\0").as_bytes()
                    )
                },
                FIRST,
            );
            // The kernel changes the offsets. SAFETY: null, or the caller's.
            let (read, written) = unsafe { ($read, $written) };
            let copies = || {
                on_file(
                    || is_counted($from),
                    || next!(NEXT, fn($($argument => $type),*) -> ssize_t, -1),
                    |bytes| moved(AccessMode::Read, $from, read, bytes),
                )
            };
            on_file(
                || is_counted($to),
                copies,
                |bytes| moved(AccessMode::Write, $to, written, bytes),
            )
        }
    )*};
}

copies! {
    fn sendfile(to: c_int, from: c_int, offset: *mut off_t, count: size_t),
        from from at(offset), to to None;
    fn sendfile64(to: c_int, from: c_int, offset: *mut off_t, count: size_t),
        from from at(offset), to to None;
    fn copy_file_range(
        from: c_int, offset: *mut off_t, to: c_int, other: *mut off_t, count: size_t, flags: c_uint
    ), from from at(offset), to to at(other);
}

/// Functions on an open file, or on a name, that move no bytes.
macro_rules! others {
    ($($looks:expr, fn $name:ident($($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            static NEXT: SystemFunction = SystemFunction::new(
                // SAFETY: it ends with the only 0.
                unsafe {
                    std::ffi::CStr::from_bytes_with_nul_unchecked(
                        concat!(stringify!($name), "\0").as_bytes()
                    )
                },
                FIRST,
            );
            on_file(
                || $looks,
                || next!(NEXT, fn($($argument => $type),*) -> c_int, -1),
                plain,
            )
        }
    )*};
}

const HERE: c_int = libc::AT_FDCWD;
const LINK: c_int = libc::AT_SYMLINK_NOFOLLOW;

others! {
    is_counted(file), fn close(file: c_int);
    is_counted(file), fn fsync(file: c_int);
    is_counted(file), fn fdatasync(file: c_int);
    is_counted(file), fn ftruncate(file: c_int, length: off_t);
    is_counted(file), fn ftruncate64(file: c_int, length: off_t);
    is_counted_at(HERE, path, 0), fn truncate(path: *const c_char, length: off_t);
    is_counted_at(HERE, path, 0), fn truncate64(path: *const c_char, length: off_t);
    is_counted_at(HERE, path, LINK), fn unlink(path: *const c_char);
    is_counted_at(folder, path, LINK), fn unlinkat(
        folder: c_int, path: *const c_char, flags: c_int
    );
    is_counted_at(HERE, path, LINK), fn remove(path: *const c_char);
    is_counted_at(HERE, path, LINK), fn rename(path: *const c_char, to: *const c_char);
    is_counted_at(HERE, path, 0), fn stat(path: *const c_char, place: *mut c_void);
    is_counted_at(HERE, path, 0), fn stat64(path: *const c_char, place: *mut c_void);
    is_counted_at(HERE, path, LINK), fn lstat(path: *const c_char, place: *mut c_void);
    is_counted_at(HERE, path, LINK), fn lstat64(path: *const c_char, place: *mut c_void);
    is_counted_at(HERE, path, 0), fn __xstat(
        version: c_int, path: *const c_char, place: *mut c_void
    );
    is_counted_at(HERE, path, 0), fn __xstat64(
        version: c_int, path: *const c_char, place: *mut c_void
    );
    is_counted_at(HERE, path, LINK), fn __lxstat(
        version: c_int, path: *const c_char, place: *mut c_void
    );
    is_counted_at(HERE, path, LINK), fn __lxstat64(
        version: c_int, path: *const c_char, place: *mut c_void
    );
}

/// Waits in real time until a begun asynchronous operation has been carried out: its simulated time
/// passes at its begin, and the results of later looks must not depend on the host's speed.
fn settle(block: *mut libc::aiocb) {
    static SUSPEND: SystemFunction = SystemFunction::new(c"aio_suspend", FIRST);
    let (blocks, no_limit) = ([block.cast_const()], std::ptr::null());
    let blocks = blocks.as_ptr();
    // SAFETY: the block of an operation that has begun.
    while unsafe { libc::aio_error(block) } == libc::EINPROGRESS {
        next!(
            SUSPEND,
            fn(
                blocks => *const *const libc::aiocb, 1 => c_int, no_limit => *const libc::timespec
            ) -> c_int,
            -1
        );
    }
}

/// Asynchronous operations: the C library carries them out in its own threads, in real time, and
/// they take their simulated time when they begin.
macro_rules! asynchronous {
    ($($way:ident, fn $name:ident;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(block: *mut libc::aiocb) -> c_int {
            static NEXT: SystemFunction = SystemFunction::new(
                // SAFETY: it ends with the only 0.
                unsafe {
                    std::ffi::CStr::from_bytes_with_nul_unchecked(
                        concat!(stringify!($name), "\0").as_bytes()
                    )
                },
                FIRST,
            );
            // SAFETY: null, or a block of the caller; its forms for large files are alike.
            let given = unsafe { block.as_ref() };
            let given = given.map(|block| (block.aio_fildes, block.aio_offset, block.aio_nbytes));
            // A pipe or a socket may have its bytes from this thread later.
            let is_of_file = || given.is_some_and(|(file, ..)| is_counted(file));
            on_file(
                is_of_file,
                || {
                    let result = next!(NEXT, fn(block => *mut libc::aiocb) -> c_int, -1);
                    if result == 0 && is_of_file() {
                        settle(block);
                    }
                    result
                },
                |result| {
                    let (_, offset, bytes) = given.filter(|_| result == 0)?;
                    Some(AccessMode::$way.access(offset.cast_unsigned(), bytes as u64))
                },
            )
        }
    )*};
}

asynchronous! {
    Read, fn aio_read;
    Read, fn aio_read64;
    Write, fn aio_write;
    Write, fn aio_write64;
}

/// Makes a file, as `open` does.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn creat(path: *const c_char, mode: c_uint) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"creat", FIRST);
    opened(next!(NEXT, fn(path => *const c_char, mode => c_uint) -> c_int, -1))
}

/// The same.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn creat64(path: *const c_char, mode: c_uint) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"creat64", FIRST);
    opened(next!(NEXT, fn(path => *const c_char, mode => c_uint) -> c_int, -1))
}
