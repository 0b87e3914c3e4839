//! How reductions combine the elements of ranks: the function of each operation on each type.
//!
//! Integers wrap around, as those of the MPI libraries do. Of two numbers, `Max` and `Min` take the second unless the first is
//! greater or less. A logical operation gives 1 or 0.

use link::collective::{Element, Operation, Reduction};

/// Replaces each element of `other` by a function of it and the element of `one`.
fn each<const SIZE: usize>(
    one: &[u8],
    other: &mut [u8],
    function: impl Fn([u8; SIZE], [u8; SIZE]) -> [u8; SIZE],
) {
    let (one, _) = one.as_chunks();
    let (other, _) = other.as_chunks_mut();
    for (&one, other) in one.iter().zip(other) {
        *other = function(one, *other);
    }
}

macro_rules! integers {
    ($type:ty, $operation:expr, $one:expr, $other:expr) => {{
        let function: fn($type, $type) -> $type = match $operation {
            Operation::Max => |a, b| if a > b { a } else { b },
            Operation::Min => |a, b| if a < b { a } else { b },
            Operation::Sum => <$type>::wrapping_add,
            Operation::Product => <$type>::wrapping_mul,
            Operation::LogicalAnd => |a, b| (a != 0 && b != 0).into(),
            Operation::LogicalOr => |a, b| (a != 0 || b != 0).into(),
            Operation::LogicalXor => |a, b| ((a != 0) != (b != 0)).into(),
            Operation::BitAnd => |a, b| a & b,
            Operation::BitOr => |a, b| a | b,
            Operation::BitXor => |a, b| a ^ b,
        };
        each($one, $other, |a, b| {
            function(<$type>::from_ne_bytes(a), <$type>::from_ne_bytes(b)).to_ne_bytes()
        });
    }};
}

macro_rules! reals {
    ($type:ty, $operation:expr, $one:expr, $other:expr) => {{
        let function: fn($type, $type) -> $type = match $operation {
            Operation::Max => |a, b| if a > b { a } else { b },
            Operation::Min => |a, b| if a < b { a } else { b },
            Operation::Product => |a, b| a * b,
            // No other operation has such elements (`Reduction::new`).
            _ => |a, b| a + b,
        };
        each($one, $other, |a, b| {
            function(<$type>::from_ne_bytes(a), <$type>::from_ne_bytes(b)).to_ne_bytes()
        });
    }};
}

macro_rules! complex {
    ($type:ty, $operation:expr, $one:expr, $other:expr) => {{
        const HALF: usize = size_of::<$type>();
        let parts = |bytes: [u8; 2 * HALF]| {
            let (halves, _) = bytes.as_chunks::<HALF>();
            [halves[0], halves[1]].map(<$type>::from_ne_bytes)
        };
        each($one, $other, |a, b| {
            let ([a, ai], [b, bi]) = (parts(a), parts(b));
            let [real, imaginary] = match $operation {
                Operation::Product => [a * b - ai * bi, a * bi + ai * b],
                // No other operation has such elements (`Reduction::new`).
                _ => [a + b, ai + bi],
            };
            let mut result = [0; 2 * HALF];
            result[..HALF].copy_from_slice(&real.to_ne_bytes());
            result[HALF..].copy_from_slice(&imaginary.to_ne_bytes());
            result
        });
    }};
}

/// Combines two vectors of whole elements, equally many in both; the result replaces the second.
pub(crate) fn combine(Reduction { operation, element }: Reduction, one: &[u8], other: &mut [u8]) {
    match element {
        Element::I8 => integers!(i8, operation, one, other),
        Element::U8 | Element::Bool | Element::Byte => integers!(u8, operation, one, other),
        Element::I16 => integers!(i16, operation, one, other),
        Element::U16 => integers!(u16, operation, one, other),
        Element::I32 => integers!(i32, operation, one, other),
        Element::U32 => integers!(u32, operation, one, other),
        Element::I64 => integers!(i64, operation, one, other),
        Element::U64 => integers!(u64, operation, one, other),
        Element::F32 => reals!(f32, operation, one, other),
        Element::F64 => reals!(f64, operation, one, other),
        Element::ComplexF32 => complex!(f32, operation, one, other),
        Element::ComplexF64 => complex!(f64, operation, one, other),
    }
}

#[cfg(test)]
mod tests;
