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

#[test]
fn row() {
    let error = |item| error(crate::row::derive, item);
    let undigested = error(quote!(
        struct Row {
            link: u32,
        }
    ));
    assert!(undigested.starts_with("a row needs `#[digest(...)]`"));
    let nameless = quote!(
        #[digest(self.0)]
        struct Row(u32);
    );
    assert_eq!(error(nameless), "expected fields with names");
    let undescribed = quote!(
        #[digest(self.link)]
        struct Row {
            link: u32,
        }
    );
    let needed = "a column needs a comment, which is its description";
    assert_eq!(error(undescribed), needed);
    let twice = quote!(
        #[digest(self.link)]
        #[digest()]
        struct Row {
            #[doc = " Its link."]
            link: u32,
        }
    );
    assert_eq!(error(twice), "a second attribute `digest`");
}
