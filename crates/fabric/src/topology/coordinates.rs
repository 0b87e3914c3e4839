//! Switch coordinates in tori, meshes and HyperX networks.
//!
//! On a rail, number `n` is at `n mod k_0`, `n / k_0 mod k_1` and so on. Each header needs
//! coordinates, and divisions by numbers that are not known beforehand are slow: so each number's
//! coordinates are listed, packed into one word.

use std::sync::Arc;

/// A number's packed coordinates, one behind the other, each with as many bits as its dimension
/// needs.
pub(super) type Packed = u32;

/// The list of all coordinates; see the module essay. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Coordinates {
    /// By number, for one rail.
    packed: Arc<[Packed]>,
    /// By dimension: its size, and its first bit.
    dimensions: Vec<(u32, u32)>,
    /// By bit: its dimension.
    of_bit: [u8; Packed::BITS as usize],
}

impl Coordinates {
    /// The coordinates for dimension sizes, each at least 2, with a product of at most
    /// [`MAX_NODES`](super::MAX_NODES).
    pub fn new(sizes: &[u32]) -> Self {
        let mut dimensions = Vec::new();
        let mut of_bit = [0; Packed::BITS as usize];
        let mut bits = 0;
        for (dimension, &size) in (0..).zip(sizes) {
            let next = bits + (size - 1).ilog2() + 1;
            of_bit[bits as usize..next as usize].fill(dimension);
            dimensions.push((size, bits));
            bits = next;
        }
        let pack = |number: u32| {
            let mut rest = number;
            dimensions.iter().fold(0, |packed, &(size, first)| {
                let at = rest % size;
                rest /= size;
                packed | at << first
            })
        };
        Coordinates {
            packed: (0..sizes.iter().product()).map(pack).collect(),
            dimensions,
            of_bit,
        }
    }

    /// The coordinates of a number on any rail.
    #[inline]
    pub fn of(&self, number: u32) -> Packed {
        self.packed[within(number, self.packed.len())]
    }

    /// A single coordinate.
    #[inline]
    pub fn along(&self, dimension: usize, packed: Packed) -> u32 {
        let (size, first) = self.dimensions[dimension];
        packed >> first & (u32::MAX >> (size - 1).leading_zeros())
    }

    /// The first dimension in which two coordinates differ.
    #[inline]
    pub fn first_difference(&self, a: Packed, b: Packed) -> Option<usize> {
        let differ = a ^ b;
        (differ != 0).then(|| self.of_bit[differ.trailing_zeros() as usize].into())
    }

    /// The count of dimensions in which two coordinates differ.
    #[inline]
    pub fn differences(&self, a: Packed, b: Packed) -> u32 {
        let dimensions = 0..self.dimensions.len();
        let differ = |&dimension: &usize| self.along(dimension, a ^ b) != 0;
        dimensions.filter(differ).count() as u32
    }
}

/// A number within its rail. Nearly all machines have one: no division.
#[inline]
pub(super) fn within(number: u32, of_a_rail: usize) -> usize {
    let number = number as usize;
    if number < of_a_rail {
        number
    } else {
        number % of_a_rail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_those_of_the_divisions() {
        for sizes in [&[2][..], &[5, 3], &[2, 3, 2, 3], &[16, 16, 8, 8], &[3; 8]] {
            let coordinates = Coordinates::new(sizes);
            let count: u32 = sizes.iter().product();
            for number in 0..2 * count {
                let packed = coordinates.of(number);
                let mut rest = number;
                for (dimension, size) in sizes.iter().enumerate() {
                    assert_eq!(coordinates.along(dimension, packed), rest % size);
                    rest /= size;
                }
                let other = coordinates.of(number / 3);
                let differ = |&dimension: &usize| {
                    coordinates.along(dimension, packed) != coordinates.along(dimension, other)
                };
                let dimensions = 0..sizes.len();
                assert_eq!(
                    coordinates.first_difference(packed, other),
                    dimensions.clone().find(differ)
                );
                let all = dimensions.filter(differ).count() as u32;
                assert_eq!(coordinates.differences(packed, other), all);
            }
        }
    }
}
