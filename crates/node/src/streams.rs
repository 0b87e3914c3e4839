//! C streams: their bytes reach a file when the C library empties or fills a buffer, by its own
//! calls.
//!
//! So the bytes that a stream has moved show by the place in its file, before and after. They count
//! at the next call below: a `printf`'s bytes count when the program next writes by `fwrite` or
//! `fputs`, or when it flushes, moves or closes the stream. Bytes in streams that are open when the
//! program ends do not count.

use super::access::{self, AccessMode};
use super::places::{self, stands, with};
use libc::{FILE, c_char, c_int, c_long, off_t, size_t};
use rank::next;
use rank::session::Session;
use rank::system::{FIRST, SystemFunction};
use std::ffi::c_void;

static FFLUSH: SystemFunction = SystemFunction::new(c"fflush", FIRST);
static WRITING: SystemFunction = SystemFunction::new(c"__fwriting", FIRST);

/// A stream has been opened, if it is not null.
pub fn opened(stream: *mut FILE) -> *mut FILE {
    if !stream.is_null() && access::counting().is_some() {
        // SAFETY: an open stream.
        let file = unsafe { libc::fileno(stream) };
        if access::is_counted(file) {
            with(|places| places.insert(file, access::place(file)));
            access::opened(file);
        }
    }
    stream
}

/// The file under an open stream with bytes that count, and the session.
fn counted(stream: *mut FILE) -> Option<(&'static Session, c_int)> {
    if stream.is_null() || !places::are_open() {
        return None;
    }
    let session = access::counting()?;
    // SAFETY: the caller's stream.
    let file = unsafe { libc::fileno(stream) };
    with(|places| places.get(&file).copied()).map(|_| (session, file))
}

/// Whether the stream's last operation has written.
fn writes(stream: *mut FILE) -> bool {
    next!(WRITING, fn(stream => *mut FILE) -> c_int, 0) != 0
}

/// Counts the bytes that a stream has moved.
fn settle((session, file): (&Session, c_int), way: AccessMode) {
    let now = access::place(file);
    let before = with(|streams| {
        streams
            .get_mut(&file)
            .map(|place| std::mem::replace(place, now))
    });
    if let Some(before) = before.filter(|&before| before != now) {
        access::ends(session, way.access(before.min(now), before.abs_diff(now)));
    }
}

/// Counts a stream's bytes before the program moves or closes it.
fn empty(stream: *mut FILE, found: (&Session, c_int)) {
    let way = if writes(stream) {
        let _ = next!(FFLUSH, fn(stream => *mut FILE) -> c_int, -1);
        AccessMode::Write
    } else {
        AccessMode::Read
    };
    settle(found, way);
}

/// Carries out a call that moves bytes.
fn moves<R>(stream: *mut FILE, way: AccessMode, call: impl FnOnce() -> R) -> R {
    let Some(found) = counted(stream) else {
        return call();
    };
    access::begins(found.0);
    let result = call();
    settle(found, way);
    result
}

/// Carries out a call that moves a stream's place.
fn seeks<R>(stream: *mut FILE, call: impl FnOnce() -> R) -> R {
    let Some(found) = counted(stream) else {
        return call();
    };
    access::begins(found.0);
    empty(stream, found);
    let result = call();
    stands(found.1, access::place(found.1));
    result
}

// The callers of the functions below keep to the C library's manual pages.

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fclose(stream: *mut FILE) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"fclose", FIRST);
    let found = counted(stream);
    if let Some(found) = found {
        access::begins(found.0);
        empty(stream, found);
        with(|places| places.remove(&found.1));
    }
    let result = next!(NEXT, fn(stream => *mut FILE) -> c_int, libc::EOF);
    if let Some((session, _)) = found {
        access::ends(session, link::FileAccess::default());
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fflush(stream: *mut FILE) -> c_int {
    moves(
        stream,
        AccessMode::Write,
        || next!(FFLUSH, fn(stream => *mut FILE) -> c_int, libc::EOF),
    )
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fwrite(
    bytes: *const c_void,
    size: size_t,
    count: size_t,
    stream: *mut FILE,
) -> size_t {
    static NEXT: SystemFunction = SystemFunction::new(c"fwrite", FIRST);
    moves(stream, AccessMode::Write, || {
        next!(
            NEXT,
            fn(
                bytes => *const c_void, size => size_t, count => size_t, stream => *mut FILE
            ) -> size_t,
            0
        )
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fputs(text: *const c_char, stream: *mut FILE) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"fputs", FIRST);
    moves(
        stream,
        AccessMode::Write,
        || next!(NEXT, fn(text => *const c_char, stream => *mut FILE) -> c_int, libc::EOF),
    )
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fread(
    bytes: *mut c_void,
    size: size_t,
    count: size_t,
    stream: *mut FILE,
) -> size_t {
    static NEXT: SystemFunction = SystemFunction::new(c"fread", FIRST);
    moves(stream, AccessMode::Read, || {
        next!(
            NEXT,
            fn(
                bytes => *mut c_void, size => size_t, count => size_t, stream => *mut FILE
            ) -> size_t,
            0
        )
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fgets(
    place: *mut c_char,
    room: c_int,
    stream: *mut FILE,
) -> *mut c_char {
    static NEXT: SystemFunction = SystemFunction::new(c"fgets", FIRST);
    moves(stream, AccessMode::Read, || {
        let null = std::ptr::null_mut();
        next!(
            NEXT, fn(place => *mut c_char, room => c_int, stream => *mut FILE) -> *mut c_char, null
        )
    })
}

/// The same in fortified programs, which say how large the place is.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __fread_chk(
    bytes: *mut c_void,
    space: size_t,
    size: size_t,
    count: size_t,
    stream: *mut FILE,
) -> size_t {
    static NEXT: SystemFunction = SystemFunction::new(c"__fread_chk", FIRST);
    moves(stream, AccessMode::Read, || {
        next!(
            NEXT,
            fn(
                bytes => *mut c_void, space => size_t, size => size_t, count => size_t,
                stream => *mut FILE
            ) -> size_t,
            0
        )
    })
}

/// The same.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __fgets_chk(
    place: *mut c_char,
    space: size_t,
    room: c_int,
    stream: *mut FILE,
) -> *mut c_char {
    static NEXT: SystemFunction = SystemFunction::new(c"__fgets_chk", FIRST);
    moves(stream, AccessMode::Read, || {
        let null = std::ptr::null_mut();
        next!(
            NEXT,
            fn(
                place => *mut c_char, space => size_t, room => c_int, stream => *mut FILE
            ) -> *mut c_char,
            null
        )
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fseek(stream: *mut FILE, offset: c_long, from: c_int) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"fseek", FIRST);
    seeks(
        stream,
        || next!(NEXT, fn(stream => *mut FILE, offset => c_long, from => c_int) -> c_int, -1),
    )
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fseeko(stream: *mut FILE, offset: off_t, from: c_int) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"fseeko", FIRST);
    seeks(
        stream,
        || next!(NEXT, fn(stream => *mut FILE, offset => off_t, from => c_int) -> c_int, -1),
    )
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fseeko64(stream: *mut FILE, offset: off_t, from: c_int) -> c_int {
    static NEXT: SystemFunction = SystemFunction::new(c"fseeko64", FIRST);
    seeks(
        stream,
        || next!(NEXT, fn(stream => *mut FILE, offset => off_t, from => c_int) -> c_int, -1),
    )
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn rewind(stream: *mut FILE) {
    static NEXT: SystemFunction = SystemFunction::new(c"rewind", FIRST);
    seeks(stream, || {
        next!(NEXT, fn(stream => *mut FILE) -> (), ());
    });
}
