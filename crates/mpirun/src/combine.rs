//! Reductions of the ranks' elements: a function for each operation on each type.
//!
//! Integers wrap around, as in the MPI libraries. `Max` and `Min` take the second number unless the
//! first is greater or less. A logical operation gives 1 or 0.

use bytemuck::Pod;
use link::collective::{Element, ReductionOperator, VectorReduction};
use num_traits::{Float, PrimInt, WrappingAdd, WrappingMul};

/// Replaces each element in `other` by a function of it and the element in `one`.
fn each<T: Pod>(one: &[u8], other: &mut [u8], function: impl Fn(T, T) -> T) {
    let one = one.chunks_exact(size_of::<T>());
    for (one, other) in one.zip(other.chunks_exact_mut(size_of::<T>())) {
        let [a, b] = [one, &*other].map(bytemuck::pod_read_unaligned);
        other.copy_from_slice(bytemuck::bytes_of(&function(a, b)));
    }
}

fn integers<T>(operation: ReductionOperator, one: &[u8], other: &mut [u8])
where
    T: Pod + PrimInt + WrappingAdd + WrappingMul,
{
    let truth = |value| if value { T::one() } else { T::zero() };
    each(one, other, |a: T, b: T| {
        let (first, second) = (!a.is_zero(), !b.is_zero());
        match operation {
            ReductionOperator::Max => std::cmp::max(a, b),
            ReductionOperator::Min => std::cmp::min(a, b),
            ReductionOperator::Sum => a.wrapping_add(&b),
            ReductionOperator::Product => a.wrapping_mul(&b),
            ReductionOperator::LogicalAnd => truth(first && second),
            ReductionOperator::LogicalOr => truth(first || second),
            ReductionOperator::LogicalXor => truth(first != second),
            ReductionOperator::BitAnd => a & b,
            ReductionOperator::BitOr => a | b,
            ReductionOperator::BitXor => a ^ b,
        }
    });
}

fn reals<T: Pod + Float>(operation: ReductionOperator, one: &[u8], other: &mut [u8]) {
    each(one, other, |a: T, b: T| match operation {
        ReductionOperator::Max if a > b => a,
        ReductionOperator::Min if a < b => a,
        ReductionOperator::Max | ReductionOperator::Min => b,
        ReductionOperator::Product => a * b,
        // No other operation has such elements (`VectorReduction::new`).
        _ => a + b,
    });
}

fn complex<T: Pod + Float>(operation: ReductionOperator, one: &[u8], other: &mut [u8])
where
    [T; 2]: Pod,
{
    each(
        one,
        other,
        |[a, ai]: [T; 2], [b, bi]: [T; 2]| match operation {
            ReductionOperator::Product => [a * b - ai * bi, a * bi + ai * b],
            // No other operation has such elements (`VectorReduction::new`).
            _ => [a + b, ai + bi],
        },
    );
}

/// Combines two vectors with the same count of whole elements; the result replaces the second.
pub(crate) fn combine(
    VectorReduction { operation, element }: VectorReduction,
    one: &[u8],
    other: &mut [u8],
) {
    match element {
        Element::I8 => integers::<i8>(operation, one, other),
        Element::U8 | Element::Bool | Element::Byte => integers::<u8>(operation, one, other),
        Element::I16 => integers::<i16>(operation, one, other),
        Element::U16 => integers::<u16>(operation, one, other),
        Element::I32 => integers::<i32>(operation, one, other),
        Element::U32 => integers::<u32>(operation, one, other),
        Element::I64 => integers::<i64>(operation, one, other),
        Element::U64 => integers::<u64>(operation, one, other),
        Element::F32 => reals::<f32>(operation, one, other),
        Element::F64 => reals::<f64>(operation, one, other),
        Element::ComplexF32 => complex::<f32>(operation, one, other),
        Element::ComplexF64 => complex::<f64>(operation, one, other),
    }
}

#[cfg(test)]
mod tests;
