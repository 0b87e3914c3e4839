//! Bindings of libraries that were opened with `RTLD_DEEPBIND`: their calls reach this library, too.
//!
//! With this flag of `dlopen` a library, and what it needs, find functions among themselves before
//! they look at the program's: a plugin that is linked with MPI calls the MPI library past the
//! preloaded entry points, and the C library's clocks and sleeps as well. Its messages would cross
//! the simulated network, and its clocks would show real time.
//!
//! The flag stays, since programs set it for plugins whose own symbols clash with others. Only the
//! plugin's slots for functions that this library defines are changed, after the linker has filled
//! them: a slot that has the very function to which the entry point passes calls on
//! ([`mpi::definition`], or the next one of this name) gets the entry point instead. A slot that the
//! linker fills at the first call gets it at once, unless a tool that measures the program comes
//! before this library. `dlopen` is defined here to see the flag; it jumps to the system's own,
//! which finds the caller's search path by its return address. The slots are changed at the next
//! `dlsym`, by which the program gets a function of the plugin, and when the process becomes a rank
//! ([`attach::then`]): a plugin that its constructor announces needs no `dlsym`, and its `MPI_Init`
//! is not recorded.

use super::objects::{base, info, own, this};
use fi::{attach, mpi};
use rank::system::{self, symbol};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Whether the program has used the flag.
static DEEP: AtomicBool = AtomicBool::new(false);
/// The number of objects that the linker had loaded when the slots were last looked at.
static LOADED: AtomicU64 = AtomicU64::new(0);

/// Notes the flag, and returns the system's `dlopen`.
unsafe extern "C" fn opening(_file: *const c_char, flags: c_int) -> usize {
    if flags & libc::RTLD_DEEPBIND != 0 {
        DEEP.store(true, Ordering::Release);
        attach::then(mend);
    }
    system::dlopen()
}

/// Notes the flags in [`opening`], and jumps to the system's function as if the program had called
/// that.
// SAFETY: as `dlsym` in the module `lookup`: the registers of the arguments and the stack are as the
// caller left them when the system's function begins.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void {
    std::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {opening}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jz 2f",
        "jmp rax",
        "2:",
        "ret",
        opening = sym opening,
    )
}

/// The same for the other processor kind.
// SAFETY: as above; the return address lies in the link register.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void {
    std::arch::naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "mov x29, sp",
        "bl {opening}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "cbz x16, 2f",
        "br x16",
        "2:",
        "mov x0, xzr",
        "ret",
        opening = sym opening,
    )
}

/// Changes the slots of all loaded libraries if the flag was used, and libraries were loaded since.
pub(super) fn mend() {
    if !DEEP.load(Ordering::Acquire) {
        return;
    }
    let mut objects = Objects::default();
    // SAFETY: the function is called with what it was given here, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut objects).cast()) };
    if LOADED.swap(objects.loaded, Ordering::AcqRel) == objects.loaded {
        return;
    }
    for object in &objects.found {
        if base(object.dynamic) != this() {
            object.mend();
        }
    }
}

#[derive(Default)]
struct Objects {
    /// The number of objects that the linker has loaded since the start.
    loaded: u64,
    found: Vec<Object>,
}

/// A loaded object with a name: not the program itself.
struct Object {
    path: CString,
    /// The difference between addresses in memory and those in the file.
    bias: usize,
    /// The address of the dynamic section.
    dynamic: usize,
    /// The addresses that are not writable once the linker has filled their slots.
    sealed: Range<usize>,
}

unsafe extern "C" fn collect(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    objects: *mut c_void,
) -> c_int {
    // SAFETY: as `mend` calls it; the linker's description of an object is whole.
    let (objects, object, path, headers) = unsafe {
        let (objects, object) = (&mut *objects.cast::<Objects>(), &*object);
        if object.dlpi_name.is_null() || object.dlpi_phdr.is_null() {
            return 0;
        }
        let headers = std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into());
        (objects, object, CStr::from_ptr(object.dlpi_name), headers)
    };
    objects.loaded = object.dlpi_adds;
    let bias = object.dlpi_addr as usize;
    let segment = |kind| {
        let header = headers.iter().find(|header| header.p_type == kind)?;
        let start = bias.wrapping_add(header.p_vaddr as usize);
        Some(start..start + header.p_memsz as usize)
    };
    if let Some(dynamic) = segment(libc::PT_DYNAMIC)
        && !path.is_empty()
    {
        objects.found.push(Object {
            path: path.to_owned(),
            bias,
            dynamic: dynamic.start,
            sealed: segment(libc::PT_GNU_RELRO).unwrap_or_default(),
        });
    }
    0
}

/// An entry of a dynamic section.
#[repr(C)]
struct Dynamic {
    tag: u64,
    value: u64,
}

/// A relocation with an addend: the kind that both processor kinds have.
#[repr(C)]
struct Relocation {
    offset: u64,
    /// The symbol's number in the upper half, and the kind in the lower one.
    info: u64,
    addend: i64,
}

const STRINGS: u64 = 5;
const SYMBOLS: u64 = 6;
const RELOCATIONS: u64 = 7;
const RELOCATIONS_BYTES: u64 = 8;
const SLOTS_BYTES: u64 = 2;
const SLOTS: u64 = 23;
/// The kinds of relocations that hold a function's address: in data, in the table of addresses, and
/// in the table of slots, which may be filled at the first call.
const KINDS: [u32; 3] = if cfg!(target_arch = "x86_64") {
    [1, 6, 7]
} else {
    [257, 1025, 1026]
};

impl Object {
    /// Changes the slots that lead past this library.
    fn mend(&self) {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: a string of C; no code runs, since nothing is loaded.
        let handle = unsafe { libc::dlopen(self.path.as_ptr(), flags) };
        // Unloaded in the meantime, or in a namespace of its own.
        if handle.is_null() {
            return;
        }
        // Another object may have been loaded from this file in its place.
        if info(self.dynamic).is_some() {
            let table = |tag, bytes| {
                let (start, length) = (self.address(tag), self.entry(bytes).unwrap_or(0));
                let count = length as usize / size_of::<Relocation>();
                // SAFETY: the table as the object's dynamic section describes it; the object stays
                // loaded as long as there is the handle.
                start.map_or(&[][..], |start| unsafe {
                    std::slice::from_raw_parts(start as *const Relocation, count)
                })
            };
            for relocation in table(RELOCATIONS, RELOCATIONS_BYTES)
                .iter()
                .chain(table(SLOTS, SLOTS_BYTES))
            {
                self.redirect(handle, relocation);
            }
        }
        // SAFETY: the handle from above.
        unsafe { libc::dlclose(handle) };
    }

    /// Changes a slot if it leads past this library, or would do so at the first call.
    fn redirect(&self, handle: *mut c_void, relocation: &Relocation) -> Option<()> {
        let kind = (relocation.info & 0xffff_ffff) as u32;
        if !KINDS.contains(&kind) || relocation.addend != 0 {
            return None;
        }
        let name = self.undefined((relocation.info >> 32) as usize)?;
        // SAFETY: a handle of this library.
        let entry = unsafe { symbol(own()?, name) } as usize;
        if entry == 0 || base(entry) != this() {
            return None;
        }
        let next = next(name)?;
        let slot = self.bias.wrapping_add(relocation.offset as usize);
        // SAFETY: the linker has filled this aligned word, and may fill it again in another thread
        // that makes the first call.
        let word = unsafe { AtomicUsize::from_ptr(slot as *mut usize) };
        let found = word.load(Ordering::Relaxed);
        let open = kind == KINDS[2] && base(found) == base(self.dynamic);
        // SAFETY: a handle of the object, and the program's own search order.
        let leads_past = found == next
            || open
                && unsafe { symbol(handle, name) } as usize == next
                && base(unsafe { symbol(libc::RTLD_DEFAULT, name) } as usize) == this();
        if leads_past && self.writable(slot, true) {
            word.store(entry, Ordering::Release);
            self.writable(slot, false);
        }
        Some(())
    }

    /// Opens a slot's page for writing, or closes it if the linker has sealed it.
    fn writable(&self, slot: usize, open: bool) -> bool {
        if !self.sealed.contains(&slot) {
            return true;
        }
        let protection = libc::PROT_READ | if open { libc::PROT_WRITE } else { 0 };
        // SAFETY: sysconf only asks. The page holds data of the linker that this library does not
        // borrow; it stays readable.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            libc::mprotect((slot & !(page - 1)) as *mut c_void, page, protection) == 0
        }
    }

    /// The name of a symbol that the object does not define itself.
    fn undefined(&self, number: usize) -> Option<&CStr> {
        let (symbols, strings) = (self.address(SYMBOLS)?, self.address(STRINGS)?);
        // SAFETY: a relocation's symbol lies in the object's tables, which stay as they are.
        unsafe {
            let symbol = &*(symbols as *const libc::Elf64_Sym).add(number);
            let name = (strings as *const c_char).add(symbol.st_name as usize);
            (symbol.st_shndx == 0).then(|| CStr::from_ptr(name))
        }
    }

    /// The address in an entry of the dynamic section.
    fn address(&self, tag: u64) -> Option<usize> {
        let found = self.entry(tag)? as usize;
        // The linker adds the bias in place, unless the section is not writable.
        Some(if found < self.bias {
            found + self.bias
        } else {
            found
        })
    }

    fn entry(&self, tag: u64) -> Option<u64> {
        let mut entry = self.dynamic as *const Dynamic;
        // SAFETY: the section ends with the tag zero.
        unsafe {
            while (*entry).tag != 0 {
                if (*entry).tag == tag {
                    return Some((*entry).value);
                }
                entry = entry.add(1);
            }
        }
        None
    }
}

/// The function to which this library's function of a name passes calls on.
fn next(name: &CStr) -> Option<usize> {
    if mpi::is_name(name) {
        return mpi::definition(name);
    }
    // SAFETY: the handle for the next object after this library.
    let found = unsafe { symbol(libc::RTLD_NEXT, name) } as usize;
    (found != 0).then_some(found)
}
