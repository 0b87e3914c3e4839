//! Atomic operations on words in other ranks' memory: the functions in `fi_atomic.h`, on machines
//! with adapters that execute them.
//!
//! One call changes one word with four or eight bytes ([`crate::progress::atomics`] has types and
//! operations). MPI libraries send messages for others, which the target works off when it calls
//! MPI. An operation ends when the word has changed.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::entries::{FiIoc, FiMsgAtomic};
use crate::abi::objects::{FiOpsAtomic, FidEp};
use crate::abi::{FI_ATOMIC, FI_EINVAL, FI_EOPNOTSUPP, FI_READ, FI_WRITE, Pointer, UNUSED};
use crate::operation::{call, functions};
use crate::progress::HasEngine;
use crate::progress::atomics::{AtomicOperation, AtomicRequest, WordType};
use link::{RemoteMemory, Width};
use rank::memory::{Buffer, Span};
use std::ffi::c_int;

pub static OPS: FiOpsAtomic = FiOpsAtomic {
    size: size_of::<FiOpsAtomic>(),
    write,
    writev: UNUSED,
    writemsg,
    inject,
    readwrite,
    readwritev: UNUSED,
    readwritemsg,
    compwrite,
    compwritev: UNUSED,
    compwritemsg,
    writevalid: valid,
    readwritevalid: valid,
    compwritevalid: valid,
};

/// The types by their numbers in `enum fi_datatype`.
fn element(number: u32) -> Option<WordType> {
    let all = [
        WordType::I32,
        WordType::U32,
        WordType::I64,
        WordType::U64,
        WordType::F32,
        WordType::F64,
    ];
    all.get(number.checked_sub(4)? as usize).copied()
}

/// The operations by their numbers in `enum fi_op`.
fn operation(number: u32) -> Option<AtomicOperation> {
    let all = [
        AtomicOperation::Min,
        AtomicOperation::Max,
        AtomicOperation::Sum,
        AtomicOperation::Product,
        AtomicOperation::LogicalOr,
        AtomicOperation::LogicalAnd,
        AtomicOperation::BitOr,
        AtomicOperation::BitAnd,
        AtomicOperation::LogicalXor,
        AtomicOperation::BitXor,
        AtomicOperation::Read,
        AtomicOperation::Write,
        AtomicOperation::CompareSwap,
    ];
    all.get(number as usize).copied()
}

/// Which functions an operation belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Changes,
    Fetches,
    Compares,
}

/// The type and the operation for two numbers, if the class's functions have them.
fn known(class: Class, datatype: u32, op: u32) -> Option<(WordType, AtomicOperation)> {
    let (element, operation) = (element(datatype)?, operation(op)?);
    let of_class = match class {
        Class::Changes => {
            ![AtomicOperation::Read, AtomicOperation::CompareSwap].contains(&operation)
        }
        Class::Fetches => operation != AtomicOperation::CompareSwap,
        Class::Compares => operation == AtomicOperation::CompareSwap,
    };
    (of_class && operation.suits(element)).then_some((element, operation))
}

/// How many numbers `enum fi_op` has.
const OPERATIONS: u32 = 19;

/// Answers that an operation on a type has one word, for each requested function. MPICH (5.0) takes
/// the answers by its own numbers, under which a word swap is not an operation that changes, and
/// uses no atomic on a type if one is missing. It calls the functions with supported arguments;
/// they refuse all else.
unsafe extern "C" fn valid(_ep: *mut FidEp, datatype: u32, op: u32, count: *mut usize) -> c_int {
    let suits = |element: WordType| operation(op).is_none_or(|operation| operation.suits(element));
    if op >= OPERATIONS || !element(datatype).is_some_and(suits) {
        return -FI_EOPNOTSUPP;
    }
    if !count.is_null() {
        // SAFETY: the program's place for the number.
        unsafe { count.write(1) };
    }
    0
}

/// The word at the program's address; 0 for a null address.
///
/// # Safety
/// The address must be null, or have a word with this type.
unsafe fn word(element: WordType, at: *const u8) -> u64 {
    if at.is_null() {
        return 0;
    }
    // SAFETY: the caller's word.
    unsafe {
        match element.width() {
            Width::Four => at.cast::<u32>().read_unaligned().into(),
            Width::Eight => at.cast::<u64>().read_unaligned(),
        }
    }
}

/// Another rank's word.
struct Target {
    peer: u64,
    at: u64,
    key: u64,
}

/// The program's words: the operand, the one to compare with, and where the other rank's old word
/// goes.
struct Words {
    count: usize,
    operand: *const u8,
    compare: *const u8,
    result: *const u8,
}

/// Begins an operation.
///
/// # Safety
/// The words must be null or of the type, and the result follows the rule of [`Span::new`].
unsafe fn begin(
    class: Class,
    words: &Words,
    target: &Target,
    (datatype, op): (u32, u32),
    context: Pointer,
    flags: Option<u64>,
) -> Result<(), c_int> {
    let (element, operation) = known(class, datatype, op).ok_or(-FI_EOPNOTSUPP)?;
    if words.count != 1 {
        return Err(-FI_EINVAL);
    }
    let mut call = call(target.peer)?;
    let on = RemoteMemory {
        rank: call.rank()?,
        key: target.key,
        offset: target.at,
    };
    let shown = match class {
        Class::Changes => FI_ATOMIC | FI_WRITE,
        Class::Fetches | Class::Compares => FI_ATOMIC | FI_READ,
    };
    let room = if words.result.is_null() {
        0
    } else {
        element.width() as usize
    };
    // SAFETY: the caller's words.
    let (result, operand, compare): (Buffer, _, _) = unsafe {
        (
            Span::new(words.result, room).into(),
            word(element, words.operand),
            word(element, words.compare),
        )
    };
    let id = call.begin(context, result, shown, flags);
    let request = AtomicRequest {
        id,
        on,
        element,
        operation,
        operand,
        compare,
    };
    if let Some((id, order)) = call.state.engine().atomics.begin(request) {
        call.say(id, order);
    }
    Ok(())
}

/// Begins a message's operation.
///
/// # Safety
/// The message must name as many words and places as its counts; see also [`begin`].
unsafe fn of_message(
    class: Class,
    message: *const FiMsgAtomic,
    compare: *const FiIoc,
    result: *const FiIoc,
    flags: u64,
) -> Result<(), c_int> {
    // SAFETY: the caller's word.
    unsafe {
        let message = &*message;
        if message.rma_iov_count != 1 || message.iov_count > 1 {
            return Err(-FI_EINVAL);
        }
        let target = &*message.rma_iov;
        let first = |list: *const FiIoc| list.as_ref().map_or(std::ptr::null(), |one| one.addr);
        let operand = if message.iov_count == 0 {
            std::ptr::null()
        } else {
            first(message.msg_iov)
        };
        let words = Words {
            count: target.count,
            operand,
            compare: first(compare),
            result: first(result),
        };
        let target = Target {
            peer: message.addr,
            at: target.addr,
            key: target.key,
        };
        let kinds = (message.datatype, message.op);
        begin(class, &words, &target, kinds, message.context, Some(flags))
    }
}

const NONE: *const u8 = std::ptr::null();

functions! {
    write(
        operand: *const u8,
        count: usize,
        _desc: Pointer,
        peer: u64,
        at: u64,
        key: u64,
        datatype: u32,
        op: u32,
        context: Pointer
    ) =>
        begin(
            Class::Changes,
            &Words { count, operand, compare: NONE, result: NONE },
            &Target { peer, at, key },
            (datatype, op),
            context,
            None
        );

    writemsg(message: *const FiMsgAtomic, flags: u64) =>
        of_message(Class::Changes, message, std::ptr::null(), std::ptr::null(), flags);

    inject(
        operand: *const u8, count: usize, peer: u64, at: u64, key: u64, datatype: u32, op: u32
    ) =>
        begin(
            Class::Changes,
            &Words { count, operand, compare: NONE, result: NONE },
            &Target { peer, at, key },
            (datatype, op),
            0,
            Some(0)
        );

    readwrite(
        operand: *const u8,
        count: usize,
        _desc: Pointer,
        result: *const u8,
        _result_desc: Pointer,
        peer: u64,
        at: u64,
        key: u64,
        datatype: u32,
        op: u32,
        context: Pointer
    ) =>
        begin(
            Class::Fetches,
            &Words { count, operand, compare: NONE, result },
            &Target { peer, at, key },
            (datatype, op),
            context,
            None
        );

    readwritemsg(
        message: *const FiMsgAtomic,
        result: *const FiIoc,
        _result_desc: Pointer,
        _count: usize,
        flags: u64
    ) =>
        of_message(Class::Fetches, message, std::ptr::null(), result, flags);

    compwrite(
        operand: *const u8,
        count: usize,
        _desc: Pointer,
        compare: *const u8,
        _compare_desc: Pointer,
        result: *const u8,
        _result_desc: Pointer,
        peer: u64,
        at: u64,
        key: u64,
        datatype: u32,
        op: u32,
        context: Pointer
    ) =>
        begin(
            Class::Compares,
            &Words { count, operand, compare, result },
            &Target { peer, at, key },
            (datatype, op),
            context,
            None
        );

    compwritemsg(
        message: *const FiMsgAtomic,
        compare: *const FiIoc,
        _compare_desc: Pointer,
        _compares: usize,
        result: *const FiIoc,
        _result_desc: Pointer,
        _count: usize,
        flags: u64
    ) =>
        of_message(Class::Compares, message, compare, result, flags);
}
