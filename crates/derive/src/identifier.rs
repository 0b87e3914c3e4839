//! Identifiers: numbers with their own type.

use crate::parse::of_struct;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, Fields, Result};

/// Implements an identifier for `struct NAME(u32);`.
pub fn derive(item: &DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    match of_struct(item)? {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {}
        _ => {
            let message = "an identifier is a number: `struct NAME(u32);`";
            return Err(Error::new_spanned(name, message));
        }
    }
    Ok(quote! {
        impl #name {
            /// The identifier with number `number`.
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// The identifier's number.
            pub const fn get(self) -> u32 {
                self.0
            }

            /// The first `count` identifiers, in their order.
            pub fn all(
                count: u32
            ) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                (0..count as usize).map(Self::from)
            }
        }

        impl From<u32> for #name {
            fn from(number: u32) -> Self {
                Self(number)
            }
        }

        impl From<usize> for #name {
            #[inline]
            fn from(index: usize) -> Self {
                Self(index as u32)
            }
        }

        impl From<#name> for u32 {
            fn from(identifier: #name) -> Self {
                identifier.0
            }
        }

        impl From<#name> for usize {
            #[inline]
            fn from(identifier: #name) -> Self {
                identifier.0 as usize
            }
        }

        impl std::fmt::Display for #name {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    })
}
