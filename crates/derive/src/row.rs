//! Rows in results tables.

use crate::parse::{arguments, comment, expressions, named, of_struct};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{DeriveInput, Error, Ident, LitStr, Result};

/// Implements `Row` for a structure with a column in each field.
pub fn derive(item: &DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    let fields = &named(of_struct(item)?)?.named;
    let Some(digest) = arguments(&item.attrs, "digest")? else {
        let message =
            "a row needs `#[digest(...)]`: the values that the digest takes, such as `self.link`";
        return Err(Error::new_spanned(name, message));
    };
    let hashed = expressions(digest)?;
    let counts = arguments(&item.attrs, "digest_if")?;
    let digested = quote!(#(#hashed,)* #counts);

    let (mut columns, mut names, mut takes) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        let (ident, kind, about) = (&field.ident, &field.ty, comment(field)?);
        let unit = arguments(&field.attrs, "unit")?.map(syn::parse2::<LitStr>);
        let unit = unit.transpose()?;
        let unit = unit.map_or_else(|| quote!(None), |unit| quote!(Some(#unit)));
        columns.push(quote!(crate::table::Column::of::<#kind>(stringify!(#ident), #unit, #about)));
        takes.push(ident.as_ref().is_some_and(|ident| reads(&digested, ident)));
        names.push(ident);
    }
    let counts = counts.map(|counts| {
        quote! {
            if !(#counts) {
                return;
            }
        }
    });
    Ok(quote! {
        impl crate::table::Row for #name {
            fn columns() -> Vec<crate::table::Column> {
                vec![#(#columns),*]
            }

            fn values(&self) -> Vec<crate::table::Value<'_>> {
                vec![#(crate::table::Cell::value(&self.#names)),*]
            }

            fn of<'a>(
                mut value: impl FnMut(usize) -> Option<crate::table::Value<'a>>,
            ) -> Option<Self> {
                let mut column = 0..;
                Some(Self { #(#names: crate::table::Cell::of(value(column.next()?)?)?),* })
            }

            fn hashed() -> Vec<bool> {
                vec![#(#takes),*]
            }

            #[allow(unused_variables)] // of a table that follows from another one as a whole
            fn add_to(&self, digest: &mut kernel::Digest) {
                #counts
                #(crate::table::Cell::add_to(&(#hashed), digest);)*
            }
        }
    })
}

/// Whether an expression has `self.FIELD`.
fn reads(tokens: &TokenStream, field: &Ident) -> bool {
    let mut before = [None, None];
    for token in tokens.clone() {
        if let TokenTree::Group(group) = &token
            && reads(&group.stream(), field)
        {
            return true;
        }
        let text = token.to_token_stream().to_string();
        if before == [Some("self".to_string()), Some(".".to_string())] && field == &text {
            return true;
        }
        before = [before[1].take(), Some(text)];
    }
    false
}
