//! The arithmetic that all countable quantities share.

/// Sums, differences, multiples and quotients for a newtype over an unsigned integer.
macro_rules! arithmetic {
    ($name:ident, $int:ty) => {
        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// The largest value that can be held.
            pub const MAX: Self = Self(<$int>::MAX);

            /// Whether this quantity is zero.
            #[must_use]
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }

            /// The sum, or `None` if it is out of range.
            #[must_use]
            pub const fn checked_add(self, other: Self) -> Option<Self> {
                match self.0.checked_add(other.0) {
                    Some(sum) => Some(Self(sum)),
                    None => None,
                }
            }

            /// The difference, or `None` if it is below zero.
            #[must_use]
            pub const fn checked_sub(self, other: Self) -> Option<Self> {
                match self.0.checked_sub(other.0) {
                    Some(difference) => Some(Self(difference)),
                    None => None,
                }
            }

            /// The multiple, or `None` if it is out of range.
            #[must_use]
            pub const fn checked_mul(self, factor: $int) -> Option<Self> {
                match self.0.checked_mul(factor) {
                    Some(product) => Some(Self(product)),
                    None => None,
                }
            }

            /// The sum, at most [`MAX`](Self::MAX).
            #[must_use]
            pub const fn saturating_add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            /// The difference, at least [`ZERO`](Self::ZERO).
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// How many times `part` covers this quantity: the quotient, rounded up.
            #[must_use]
            pub const fn div_ceil(self, part: Self) -> $int {
                self.0.div_ceil(part.0)
            }

            /// Whether this quantity is a multiple of `part`.
            #[must_use]
            pub const fn is_multiple_of(self, part: Self) -> bool {
                self.0.is_multiple_of(part.0)
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;

            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl std::ops::SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }

        impl std::ops::Mul<$int> for $name {
            type Output = Self;

            fn mul(self, factor: $int) -> Self {
                Self(self.0 * factor)
            }
        }

        /// Rounded down.
        impl std::ops::Div<$int> for $name {
            type Output = Self;

            fn div(self, divisor: $int) -> Self {
                Self(self.0 / divisor)
            }
        }

        /// How many whole `part`s fit: the quotient, rounded down.
        impl std::ops::Div for $name {
            type Output = $int;

            fn div(self, part: Self) -> $int {
                self.0 / part.0
            }
        }

        /// The remainder after all whole `part`s.
        impl std::ops::Rem for $name {
            type Output = Self;

            fn rem(self, part: Self) -> Self {
                Self(self.0 % part.0)
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self::ZERO, |sum, item| sum + item)
            }
        }

        impl<'a> std::iter::Sum<&'a Self> for $name {
            fn sum<I: Iterator<Item = &'a Self>>(items: I) -> Self {
                items.copied().sum()
            }
        }
    };
}
pub(crate) use arithmetic;
