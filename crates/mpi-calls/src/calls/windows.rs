//! Memory windows that ranks on a node share (`MPI_Win_allocate_shared`).
//!
//! The library would share memory between all ranks, which are on one host, or not at all. So the
//! memory is made here: a file in memory, which a communicator's members map, if all are on one
//! simulated node. The window comes from `MPI_Win_create` on a member's part, so that puts, gets
//! and accumulates cross the node's memory as between any two ranks on it. Loads and stores are the
//! program's computation.
//!
//! Open MPI's own host memory serves a node's ranks, where it knows no other one-sided
//! communication. It would also serve `MPI_Win_allocate` between nodes, past the network; so that
//! is an allocation and `MPI_Win_create` there.
//!
//! Without `alloc_shared_noncontig`, the parts lie one behind the other, without gaps, as MPI
//! promises. With it, each begins at a page.

use super::interface::Interface;
use super::nodes::{gather, handle_at};
use crate::functions::functions;
use rank::session;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

functions! {
    win_create is c"PMPI_Win_create"(
        base: *mut c_void, size: isize, unit: c_int, info: usize, comm: usize, place: usize
    );
    win_free is c"PMPI_Win_free"(place: usize);
    alloc_mem is c"PMPI_Alloc_mem"(size: isize, info: usize, base: *mut usize);
    free_mem is c"PMPI_Free_mem"(base: *mut c_void);
    bcast is c"PMPI_Bcast"(bytes: *mut u8, count: c_int, kind: usize, root: c_int, comm: usize);
    barrier is c"PMPI_Barrier"(comm: usize);
    call_errhandler is c"PMPI_Comm_call_errhandler"(comm: usize, error: c_int);
    shared_query is c"MPI_Win_shared_query"(
        window: usize, rank: usize, size: usize, unit: usize, base: usize
    );
    shared_query_c is c"MPI_Win_shared_query_c"(
        window: usize, rank: usize, size: usize, unit: usize, base: usize
    );
    info_get is c"PMPI_Info_get"(
        info: usize, key: *const c_char, length: c_int, value: *mut c_char, flag: *mut c_int
    );
}

const PAGE: usize = 4096;

/// A member's part in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowMember {
    /// Where it begins in the file.
    pub at: usize,
    /// Its bytes.
    pub size: usize,
    /// The bytes of a displacement unit.
    pub unit: usize,
}

/// A window with memory that is made here.
enum Window {
    /// Where the file is mapped, its length, and the members' parts.
    Shared((usize, usize), Vec<WindowMember>),
    /// The address where the library has allocated memory.
    Allocated(usize),
}

/// The windows by their handles, and the MPI initialisation in which they were made.
static WINDOWS: Mutex<(u32, BTreeMap<usize, Window>)> = Mutex::new((0, BTreeMap::new()));

fn windows() -> MutexGuard<'static, (u32, BTreeMap<usize, Window>)> {
    let mut all = WINDOWS.lock().unwrap_or_else(PoisonError::into_inner);
    let visit = session::visit();
    if all.0 != visit {
        // Handles from a former initialisation may now stand for other windows.
        *all = (visit, BTreeMap::new());
    }
    all
}

/// The places for parts with these sizes and units in a file, and the file's length.
pub fn layout(wishes: &[(usize, usize)], apart: bool) -> (Vec<WindowMember>, usize) {
    let mut end = 0_usize;
    let place = |&(size, unit): &(usize, usize)| {
        let at = if apart {
            end.next_multiple_of(PAGE)
        } else {
            end
        };
        end = at + size;
        WindowMember { at, size, unit }
    };
    let parts = wishes.iter().map(place).collect();
    (parts, end.max(1).next_multiple_of(PAGE))
}

/// A new file in memory with this length; a negative number if the host has no room.
fn file(length: usize) -> c_int {
    // SAFETY: system calls on a new file.
    unsafe {
        let name = c"elanite window".as_ptr();
        let file = libc::syscall(libc::SYS_memfd_create, name, libc::MFD_CLOEXEC) as c_int;
        if file >= 0 && libc::ftruncate(file, length.cast_signed() as i64) != 0 {
            libc::close(file);
            return -1;
        }
        file
    }
}

/// Maps a process's file; the process may be this one.
fn map(process: u32, file: u32, length: usize) -> Option<usize> {
    let path = format!("/proc/{process}/fd/{file}\0");
    // SAFETY: the path ends with a zero; a new mapping of a file, which outlives the descriptor.
    unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDWR | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let map = libc::mmap(
            std::ptr::null_mut(),
            length,
            access,
            libc::MAP_SHARED,
            file,
            0,
        );
        libc::close(file);
        (map != libc::MAP_FAILED).then(|| map.expose_provenance())
    }
}

fn wants_gaps(library: Interface, info: usize) -> bool {
    if library.is_no_info(info) {
        return false;
    }
    let (mut value, mut flag) = ([0_u8; 8], 0);
    // SAFETY: an object of the call, and room for a value of this length and a zero.
    let error = unsafe {
        let to = value.as_mut_ptr().cast();
        info_get(
            info,
            c"alloc_shared_noncontig".as_ptr(),
            7,
            to,
            &raw mut flag,
        )
    };
    error == 0 && flag != 0 && value.starts_with(b"true")
}

/// Ends a call by its communicator's error handler.
fn fail(comm: usize, error: c_int) -> c_int {
    // SAFETY: the communicator of the call.
    unsafe { call_errhandler(comm, error) };
    error
}

/// Makes a memory window that a communicator's members share; `None` leaves the call, which is
/// wrong, to the library.
pub fn allocate(
    (size, unit): (isize, isize),
    info: usize,
    comm: usize,
    (base, place): (usize, usize),
) -> Option<c_int> {
    let (_, node, library) = (session::get()?, node::own()?, Interface::of_library()?);
    let (info, comm) = (library.handle(info), library.handle(comm));
    let own = usize::try_from(size).ok()?;
    let unit = c_int::try_from(unit).ok().filter(|&unit| unit > 0)?;
    if base == 0 || place == 0 {
        return None;
    }
    let apart = wants_gaps(library, info);
    let words = [
        u64::from(node.number),
        u64::from(node.place),
        own as u64,
        u64::from(unit.cast_unsigned()) << 1 | u64::from(apart),
    ];
    let all = match gather(library, comm, words) {
        Ok(all) => all,
        Err(error) => return Some(error),
    };
    if all.iter().any(|of| of[0] != words[0]) {
        return Some(fail(comm, library.not_shared()));
    }
    if library == Interface::OpenMpi {
        return None;
    }
    let wishes = all.iter().map(|of| (of[2] as usize, (of[3] >> 1) as usize));
    let wishes: Vec<(usize, usize)> = wishes.collect();
    let (parts, length) = layout(&wishes, all.iter().any(|of| of[3] & 1 != 0));
    let rank = all.iter().position(|of| of[1] == words[1])?;
    let made = if rank == 0 { file(length) } else { -1 };
    let mut name = u64::from(std::process::id()) << 32 | u64::from(made.cast_unsigned());
    // SAFETY: eight bytes of each member.
    let error = unsafe { bcast((&raw mut name).cast(), 8, library.byte(), 0, comm) };
    if error != 0 {
        return Some(error);
    }
    let map = map((name >> 32) as u32, name as u32, length);
    let Some(map) = map else {
        eprintln!("elanite: the host has no room for a shared window of {length} bytes");
        std::process::abort();
    };
    let address = map + parts[rank].at;
    // SAFETY: the places of the call; the memory is there until the window is freed.
    unsafe {
        let memory = std::ptr::with_exposed_provenance_mut(address);
        let error = win_create(memory, size, unit, info, comm, place);
        // All members have mapped the file.
        let error = if error == 0 { barrier(comm) } else { error };
        if made >= 0 {
            libc::close(made);
        }
        if error != 0 {
            return Some(error);
        }
        (base as *mut usize).write(address);
        let window = Window::Shared((map, length), parts);
        windows().1.insert(handle_at(library, place), window);
    }
    Some(0)
}

/// Makes a window with new memory by Open MPI; `None` leaves the call to the library.
pub fn allocate_apart(
    (size, unit): (isize, c_int),
    info: usize,
    comm: usize,
    (base, place): (usize, usize),
) -> Option<c_int> {
    if session::get().is_none() || Interface::of_library()? != Interface::OpenMpi {
        return None;
    }
    let mut address = 0;
    // SAFETY: the call's arguments and places; the library's memory that has no other owner.
    unsafe {
        let error = alloc_mem(size, info, &raw mut address);
        if error != 0 {
            return Some(error);
        }
        let memory = std::ptr::with_exposed_provenance_mut(address);
        let error = win_create(memory, size, unit, info, comm, place);
        if error != 0 {
            free_mem(memory);
            return Some(error);
        }
        (base as *mut usize).write(address);
        let handle = handle_at(Interface::OpenMpi, place);
        windows().1.insert(handle, Window::Allocated(address));
    }
    Some(0)
}

/// A member's part in a shared window, or the first part that is not empty; `None` if the window is
/// another.
fn find(library: Interface, window: usize, rank: c_int) -> Option<(usize, WindowMember)> {
    let all = windows();
    let Window::Shared((map, _), parts) = all.1.get(&library.handle(window))? else {
        return None;
    };
    let part = if library.is_no_rank(rank) {
        let filled = parts.iter().find(|part| part.size > 0);
        filled.or(parts.first())
    } else {
        parts.get(usize::try_from(rank).ok()?)
    };
    part.map(|&part| (map + part.at, part))
}

/// Returns where a member's part in a shared window lies, by the call's places; with `large` the
/// unit is an `MPI_Aint`.
fn query([window, rank, size, unit, base]: [usize; 5], large: bool) -> c_int {
    let part = Interface::of_library()
        .and_then(|library| find(library, window, (rank as u32).cast_signed()));
    // SAFETY: places of the call for the answers, of this module or the library.
    unsafe {
        match part {
            Some((address, part)) => {
                (size as *mut usize).write(part.size);
                (base as *mut usize).write(address);
                if large {
                    (unit as *mut usize).write(part.unit);
                } else {
                    (unit as *mut c_int).write((part.unit as u32).cast_signed());
                }
                0
            }
            None if large => shared_query_c(window, rank, size, unit, base),
            None => shared_query(window, rank, size, unit, base),
        }
    }
}

/// Frees a window; `None` if it is not a shared one.
pub fn free(place: usize) -> Option<c_int> {
    let library = Interface::of_library()?;
    if place == 0 {
        return None;
    }
    // SAFETY: the place of the call has a handle.
    let window = windows().1.remove(&unsafe { handle_at(library, place) })?;
    // SAFETY: as above; the memory of a window that has been freed has no users.
    unsafe {
        let error = win_free(place);
        match window {
            Window::Shared((map, length), _) => {
                libc::munmap(std::ptr::with_exposed_provenance_mut(map), length);
            }
            Window::Allocated(address) => {
                free_mem(std::ptr::with_exposed_provenance_mut(address));
            }
        }
        Some(error)
    }
}

// The functions below are MPI's; their callers give places for the answers.

#[unsafe(no_mangle)]
pub extern "C" fn MPI_Win_shared_query(
    window: usize,
    rank: usize,
    size: usize,
    unit: usize,
    base: usize,
) -> c_int {
    query([window, rank, size, unit, base], false)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPI_Win_shared_query_c(
    window: usize,
    rank: usize,
    size: usize,
    unit: usize,
    base: usize,
) -> c_int {
    query([window, rank, size, unit, base], true)
}

/// A shared window's flavour; the library takes the window for one from `MPI_Win_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Win_get_attr(
    window: usize,
    key: c_int,
    value: usize,
    flag: *mut c_int,
) -> c_int {
    functions! {
        ask is c"MPI_Win_get_attr"(window: usize, key: c_int, value: usize, flag: *mut c_int);
    }
    let library = Interface::of_library();
    if let Some(library) = library.filter(|library| library.is_flavour(key))
        && let Some(known) = windows().1.get(&library.handle(window))
    {
        let flavour = std::ptr::from_ref(match known {
            Window::Shared(..) => library.shared_flavour(),
            Window::Allocated(_) => library.allocated_flavour(),
        });
        // SAFETY: the program has places for a pointer and a flag.
        unsafe {
            (value as *mut usize).write(flavour.expose_provenance());
            flag.write(1);
        }
        return 0;
    }
    // SAFETY: the arguments of the program, for the library's function of the same name.
    unsafe { ask(window, key, value, flag) }
}

#[cfg(test)]
mod tests;
