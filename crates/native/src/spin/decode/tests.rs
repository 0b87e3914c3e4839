//! Instructions as an assembler encodes them.

use super::*;

/// An instruction's access, with some values in its registers.
fn of(code: &[u8]) -> Instruction {
    let mut registers = [0; 23];
    for (register, value) in [
        (libc::REG_RBX, 0x1000),
        (libc::REG_RCX, 2),
        (libc::REG_RBP, 0x2000),
        (libc::REG_R12, 0x3000),
        (libc::REG_R13, 0x4000),
    ] {
        registers[register as usize] = value;
    }
    // SAFETY: it is a whole instruction.
    unsafe { decode(code.as_ptr().expose_provenance() as u64, &registers) }
}

fn reads(code: &[u8], address: u64) {
    assert_eq!(of(code), Instruction::reads(Some(address)), "{code:x?}");
}

fn writes(code: &[u8], address: u64) {
    assert_eq!(of(code), Instruction::writes(Some(address)), "{code:x?}");
}

fn alters(code: &[u8], address: u64) {
    let step = of(code);
    assert_eq!(step, Instruction::alters(Some(address)), "{code:x?}");
    assert!(!step.is_repeatable());
}

/// An instruction that is `length` bytes long, with an operand relative to its end.
fn relative(code: &'static [u8]) -> u64 {
    code.as_ptr().expose_provenance() as u64 + code.len() as u64 + 0x100
}

/// `mov qword ptr [rip+0x100], 5`
static MOVE: [u8; 11] = [0x48, 0xc7, 0x05, 0, 1, 0, 0, 5, 0, 0, 0];
/// `cmp qword ptr [rip+0x100], 5`
static COMPARE: [u8; 8] = [0x48, 0x83, 0x3d, 0, 1, 0, 0, 5];
/// `test byte ptr [rip+0x100], 1`
static TEST: [u8; 7] = [0xf6, 0x05, 0, 1, 0, 0, 1];

#[test]
fn addresses_are_those_of_the_processor() {
    reads(&[0x8b, 0x03], 0x1000); // mov eax, [rbx]
    reads(&[0x48, 0x8b, 0x44, 0x8b, 0x10], 0x1018); // mov rax, [rbx+rcx*4+0x10]
    reads(&[0x41, 0x83, 0x7c, 0x24, 0x08, 0x01], 0x3008); // cmp dword ptr [r12+8], 1
    reads(&[0x41, 0x0f, 0xb6, 0x45, 0x00], 0x4000); // movzx eax, byte ptr [r13+0]
    // cmp byte ptr [0x404040], 0
    reads(&[0x80, 0x3c, 0x25, 0x40, 0x40, 0x40, 0x00, 0x00], 0x40_4040);
    reads(&[0x48, 0x69, 0x03, 0xe8, 0x03, 0, 0], 0x1000); // imul rax, [rbx], 1000
    writes(&MOVE, relative(&MOVE));
    reads(&COMPARE, relative(&COMPARE));
    reads(&TEST, relative(&TEST));
}

#[test]
fn who_changes_what_it_finds_is_told_from_who_only_reads_or_writes() {
    writes(&[0x89, 0x03], 0x1000); // mov [rbx], eax
    reads(&[0xf6, 0x03, 0x01], 0x1000); // test byte ptr [rbx], 1
    reads(&[0x03, 0x03], 0x1000); // add eax, [rbx]
    alters(&[0x48, 0x83, 0x03, 0x01], 0x1000); // add qword ptr [rbx], 1
    alters(&[0xff, 0x45, 0xfc], 0x1ffc); // inc dword ptr [rbp-4]
    alters(&[0x87, 0x03], 0x1000); // xchg [rbx], eax
    alters(&[0xc1, 0x23, 0x03], 0x1000); // shl dword ptr [rbx], 3
    alters(&[0xf7, 0x1b], 0x1000); // neg dword ptr [rbx]
    reads(&[0xff, 0x13], 0x1000); // call [rbx]
    reads(&[0xf2, 0x0f, 0x10, 0x03], 0x1000); // movsd xmm0, [rbx]
    writes(&[0xf2, 0x0f, 0x11, 0x03], 0x1000); // movsd [rbx], xmm0
    for plain in [
        &[0x83, 0xc0, 0x01][..],                        // add eax, 1
        &[0x48, 0x8d, 0x43, 0x08],                      // lea rax, [rbx+8]
        &[0xf3, 0x90],                                  // pause
        &[0xf3, 0x0f, 0x1e, 0xfa],                      // endbr64
        &[0xc3],                                        // ret
        &[0x0f, 0xae, 0xf0],                            // mfence
        &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0], // mov rax, fs:[0x28]
    ] {
        assert_eq!(of(plain), Instruction::PLAIN, "{plain:x?}");
    }
    for foreign in [
        &[0x0f, 0x05][..],         // syscall
        &[0x0f, 0x31],             // rdtsc
        &[0xf0, 0x83, 0x03, 0x01], // lock add dword ptr [rbx], 1
    ] {
        assert!(of(foreign).is_foreign(), "{foreign:x?}");
    }
}
