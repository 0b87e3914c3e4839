//! Each wrong item is an error that shows the valid form.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Result};

/// An item's error.
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
fn quantity() {
    let error = |item| error(crate::quantity::derive, item);
    assert!(
        error(quote!(
            struct Time(u64);
        ))
        .starts_with("a quantity is a number with its units")
    );
    assert_eq!(
        error(quote!(
            #[scale("TIME")]
            struct Time(u64);
        )),
        "expected identifier"
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

#[test]
fn table() {
    let item = || {
        syn::parse_quote!(
            struct Table {
                key: Option<u32>,
            }
        )
    };
    let table = crate::table::expand(&TokenStream::new(), item()).expect("a table");
    assert!(table.to_string().contains("skip_serializing_if"));
    let error = crate::table::expand(&quote!(strict), item()).expect_err("wrong");
    assert_eq!(error.to_string(), "`table` has no arguments");
    let item = syn::parse_quote!(
        enum Choice {
            Adaptive,
            Fixed(u32),
        }
    );
    let error = crate::table::choice(&TokenStream::new(), item).expect_err("wrong");
    assert_eq!(error.to_string(), "a choice has no fields");
}

#[test]
fn section() {
    let expand = |head, param: TokenStream| {
        let item = syn::parse_quote!(
            struct Link {
                #[param(#param)]
                rate: Param<Rate>,
            }
        );
        crate::section::expand(head, item)
    };
    let error = |head, param| expand(head, param).expect_err("wrong").to_string();
    let sound = expand(quote!("link", within(Rate = SLOWEST..)), quote!(fabric));
    let sound = sound.expect("a section").to_string();
    assert!(
        sound.contains("check (& (SLOWEST ..) , \"link.rate\" , value , check)"),
        "{sound}"
    );
    assert_eq!(
        error(quote!(link), quote!(fabric)),
        "expected string literal"
    );
    assert!(
        error(quote!("link", fields = 3), quote!()).starts_with("unknown `fields`: allowed are")
    );
    assert!(error(quote!("link"), quote!(bounds = 3)).starts_with("unknown `bounds`: allowed are"));
    assert_eq!(error(quote!("link"), quote!(within)), "expected `=`");
}

#[test]
fn grid() {
    let expand = |head, kind: TokenStream| {
        let item = syn::parse_quote!(struct PingGrid { #[serde(rename = "for")] lasts: #kind });
        crate::grid::expand(head, item)
    };
    let sound = expand(quote!(struct Ping), quote!(Option<Sweep<Time>>)).expect("a grid");
    let sound = sound.to_string();
    assert!(sound.contains("lasts : Option < Time >"), "{sound}");
    assert!(
        sound.contains("(\"for\" , self . lasts . length ())"),
        "{sound}"
    );
    let error = expand(quote!(struct Ping), quote!(Time)).expect_err("wrong");
    assert!(
        error
            .to_string()
            .starts_with("a field of a grid is a `Sweep<TYPE>`")
    );
    let error = expand(quote!(3), quote!(Sweep<Time>)).expect_err("wrong");
    assert_eq!(error.to_string(), "expected identifier");
}

#[test]
fn kinds() {
    let error = |item| error(crate::kinds::derive, item);
    let gridless = error(quote!(
        enum Benchmark {
            Ping,
        }
    ));
    assert_eq!(gridless, "a kind has its grid: `NAME(GRID)`");
    assert_eq!(
        error(quote!(
            struct Benchmark;
        )),
        "expected an enumeration"
    );
}
