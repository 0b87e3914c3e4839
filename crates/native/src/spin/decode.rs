//! The memory accesses of x86-64 instructions (Intel's manual, volume 2, appendix A: one-byte and
//! two-byte opcodes).
//!
//! Only few properties matter: whether the instruction changes memory by a value that it has found
//! there, which address it reads or writes, and whether it reaches beyond the process. Unknown
//! instructions count as the worst.

/// An instruction's memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryAccess {
    /// No access, or no access with a reported address: code, the stack.
    None,
    /// It reads at an address.
    Reads(u64),
    /// It writes at an address.
    Writes(u64),
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub access: MemoryAccess,
    /// Whether it writes a value that depends on memory or on state outside the registers.
    changes: bool,
    /// Whether it calls the kernel, or is not known.
    foreign: bool,
}

impl Instruction {
    /// It changes registers only.
    pub const PLAIN: Instruction = Instruction {
        access: MemoryAccess::None,
        changes: false,
        foreign: false,
    };

    /// Not known.
    const FOREIGN: Instruction = Instruction {
        changes: true,
        foreign: true,
        ..Instruction::PLAIN
    };

    /// Whether it does the same again if all registers, and all that it reads, are the same.
    pub fn is_repeatable(self) -> bool {
        !self.changes
    }

    /// Whether it calls the kernel, or is not known.
    pub fn is_foreign(self) -> bool {
        self.foreign
    }

    fn reads(address: Option<u64>) -> Instruction {
        Instruction {
            access: address.map_or(MemoryAccess::None, MemoryAccess::Reads),
            ..Instruction::PLAIN
        }
    }

    fn writes(address: Option<u64>) -> Instruction {
        Instruction {
            access: address.map_or(MemoryAccess::None, MemoryAccess::Writes),
            ..Instruction::PLAIN
        }
    }

    /// It reads a place and writes there; in a register that is no access.
    fn alters(address: Option<u64>) -> Instruction {
        Instruction {
            changes: address.is_some(),
            ..Instruction::writes(address)
        }
    }
}

/// A signal context's registers, in the order of their numbers in instructions.
const REGISTERS: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// Reads an instruction's bytes, one after the other.
struct Bytes(u64);

impl Bytes {
    /// The next byte.
    ///
    /// # Safety
    /// The instruction must have it.
    unsafe fn next(&mut self) -> u8 {
        let pointer = std::ptr::with_exposed_provenance::<u8>(self.0 as usize);
        self.0 += 1;
        // SAFETY: the caller's word.
        unsafe { pointer.read() }
    }
}

/// An instruction's second part: the operation in a group, and the operand's address in memory, if
/// it is there.
struct Operand {
    group: u8,
    address: Option<u64>,
}

/// Reads the operand, with `tail` instruction bytes behind it.
///
/// # Safety
/// The instruction must have one.
unsafe fn operand(bytes: &mut Bytes, rex: u8, tail: u64, registers: &[i64; 23]) -> Operand {
    let register = |number: u8| registers[REGISTERS[usize::from(number)] as usize].cast_unsigned();
    // SAFETY: the caller's word.
    unsafe {
        let form = bytes.next();
        let (kind, group, base) = (form >> 6, form >> 3 & 7, form & 7);
        if kind == 3 {
            return Operand {
                group,
                address: None,
            };
        }
        let mut address = 0_u64;
        let (mut relative, mut displaced) = (false, kind);
        if base == 4 {
            let scaled = bytes.next();
            let (scale, index, base) = (scaled >> 6, scaled >> 3 & 7, scaled & 7);
            let index = index | (rex & 2) << 2;
            if index != 4 {
                address = address.wrapping_add(register(index) << scale);
            }
            if base == 5 && kind == 0 {
                displaced = 2;
            } else {
                address = address.wrapping_add(register(base | (rex & 1) << 3));
            }
        } else if base == 5 && kind == 0 {
            (relative, displaced) = (true, 2);
        } else {
            address = address.wrapping_add(register(base | (rex & 1) << 3));
        }
        let displacement = match displaced {
            1 => i64::from(bytes.next().cast_signed()),
            2 => {
                let word = [bytes.next(), bytes.next(), bytes.next(), bytes.next()];
                i64::from(i32::from_le_bytes(word))
            }
            _ => 0,
        };
        if relative {
            address = bytes.0 + tail;
        }
        Operand {
            group,
            address: Some(address.wrapping_add_signed(displacement)),
        }
    }
}

/// The memory access by the instruction at an address, with a signal context's registers.
///
/// # Safety
/// There must be a whole instruction.
pub unsafe fn decode(at: u64, registers: &[i64; 23]) -> Instruction {
    let mut bytes = Bytes(at);
    let (mut rex, mut wide, mut segment) = (0, true, false);
    // SAFETY: the caller's word.
    let mut opcode = unsafe { bytes.next() };
    loop {
        match opcode {
            0x66 => wide = false,
            0x64 | 0x65 => segment = true,
            0xf2 | 0xf3 | 0x2e | 0x36 | 0x3e | 0x26 => {}
            0xf0 | 0x67 => return Instruction::FOREIGN,
            _ => break,
        }
        // SAFETY: the caller's word.
        opcode = unsafe { bytes.next() };
    }
    if opcode & 0xf0 == 0x40 {
        rex = opcode;
        // SAFETY: the caller's word.
        opcode = unsafe { bytes.next() };
    }
    // SAFETY: the caller's word.
    let step = unsafe { of_opcode(opcode, &mut bytes, rex, wide, registers) };
    if segment {
        // The thread's memory, at an address that is not reported.
        return Instruction {
            access: MemoryAccess::None,
            ..step
        };
    }
    step
}

/// # Safety
/// The rest of an instruction with this opcode must follow.
#[expect(clippy::match_same_arms, reason = "in the order of the manual")]
unsafe fn of_opcode(
    opcode: u8,
    bytes: &mut Bytes,
    rex: u8,
    wide: bool,
    registers: &[i64; 23],
) -> Instruction {
    let word = if wide { 4 } else { 2 };
    // Among these, only the test has a constant behind its operand.
    let tail = match opcode {
        // SAFETY: the caller's word: these have an operand.
        0xf6 | 0xf7 if unsafe { Bytes(bytes.0).next() } >> 3 & 7 > 1 => 0,
        0xf6 => 1,
        _ => word,
    };
    // SAFETY: the caller's word, for opcodes that have an operand.
    let mut operand = |tail| unsafe { operand(bytes, rex, tail, registers) };
    match opcode {
        // Arithmetic: to memory, to a register, with a constant. Comparing does not write.
        0x38..=0x3b => Instruction::reads(operand(0).address),
        0x00..=0x3f => match opcode & 7 {
            0 | 1 => Instruction::alters(operand(0).address),
            2 | 3 => Instruction::reads(operand(0).address),
            4 | 5 => Instruction::PLAIN,
            // 0x0f and bytes that are no opcodes in this mode. SAFETY: the bytes of an instruction,
            // as the caller has promised, and the opcode says that there is another one.
            _ if opcode == 0x0f => unsafe { of_two(bytes, rex, registers) },
            _ => Instruction::FOREIGN,
        },
        // Pushes of registers and constants, pops, jumps, and instructions without an operand in
        // memory.
        0x50..=0x5f | 0x68 | 0x6a | 0x70..=0x7f | 0x90..=0x99 | 0xa8 | 0xa9 => Instruction::PLAIN,
        0xb0..=0xbf | 0xc2 | 0xc3 | 0xc9 | 0xe0..=0xe3 | 0xe8 | 0xe9 | 0xeb => Instruction::PLAIN,
        0x63 | 0x84 | 0x85 | 0x8a | 0x8b => Instruction::reads(operand(0).address),
        0x69 => Instruction::reads(operand(word).address),
        0x6b => Instruction::reads(operand(1).address),
        0x80 | 0x81 | 0x83 => {
            let found = operand(if opcode == 0x81 { word } else { 1 });
            if found.group == 7 {
                Instruction::reads(found.address)
            } else {
                Instruction::alters(found.address)
            }
        }
        0x86 | 0x87 => Instruction::alters(operand(0).address),
        0x88 | 0x89 => Instruction::writes(operand(0).address),
        0x8d => {
            operand(0);
            Instruction::PLAIN
        }
        0xc0 | 0xc1 => Instruction::alters(operand(1).address),
        0xd0..=0xd3 => Instruction::alters(operand(0).address),
        0xc6 => Instruction::writes(operand(1).address),
        0xc7 => Instruction::writes(operand(word).address),
        0xf6 | 0xf7 => {
            let found = operand(tail);
            match found.group {
                2 | 3 => Instruction::alters(found.address),
                _ => Instruction::reads(found.address),
            }
        }
        0xfe => Instruction::alters(operand(0).address),
        0xff => {
            let found = operand(0);
            match found.group {
                0 | 1 => Instruction::alters(found.address),
                // A push from memory writes the value that it has read; this value is the same if
                // the registers are.
                2 | 4 => Instruction::reads(found.address),
                _ => Instruction::FOREIGN,
            }
        }
        _ => Instruction::FOREIGN,
    }
}

/// The opcodes behind 0x0f.
///
/// # Safety
/// The rest of such an instruction must follow.
#[expect(clippy::match_same_arms, reason = "in the order of the manual")]
unsafe fn of_two(bytes: &mut Bytes, rex: u8, registers: &[i64; 23]) -> Instruction {
    // SAFETY: the caller's word.
    let opcode = unsafe { bytes.next() };
    // SAFETY: the caller's word, for opcodes that have an operand.
    let mut operand = |tail| unsafe { operand(bytes, rex, tail, registers) };
    match opcode {
        0x80..=0x8f => Instruction::PLAIN,
        // A byte set writes a flag.
        0x90..=0x9f => Instruction::writes(operand(0).address),
        // No operation, moves under conditions, multiplication, moves that widen.
        0x1e | 0x1f => {
            operand(0);
            Instruction::PLAIN
        }
        0x40..=0x4f | 0xaf | 0xb6 | 0xb7 | 0xbe | 0xbf => Instruction::reads(operand(0).address),
        // Vector moves and arithmetic: loads, and stores.
        0x10 | 0x28 | 0x2a | 0x2c..=0x2f | 0x51..=0x5f | 0x6e | 0x6f => {
            Instruction::reads(operand(0).address)
        }
        0x11 | 0x29 | 0x7e | 0x7f | 0xd6 => Instruction::writes(operand(0).address),
        // Fences, and no other instruction without an operand in memory.
        0xae => {
            let found = operand(0);
            if found.address.is_none() && found.group >= 5 {
                Instruction::PLAIN
            } else {
                Instruction::FOREIGN
            }
        }
        _ => Instruction::FOREIGN,
    }
}

#[cfg(test)]
mod tests;
