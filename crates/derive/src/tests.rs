//! Each wrong item is an error that says how it must be.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Result};

/// The error of an item.
fn error(derive: fn(&DeriveInput) -> Result<TokenStream>, item: TokenStream) -> String {
    let item = syn::parse2(item).expect("an item");
    derive(&item).expect_err("wrong").to_string()
}

#[test]
fn identifier() {
    let error = |item| error(crate::identifier::derive, item);
    let number = "an identifier is a number: `struct NAME(u32);`";
    assert_eq!(
        error(quote!(
            struct Pair(u32, u32);
        )),
        number
    );
    assert_eq!(
        error(quote!(
            struct Named {
                number: u32,
            }
        )),
        number
    );
    assert_eq!(
        error(quote!(
            enum Neither {}
        )),
        "expected a structure"
    );
}
