//! Tables with swept fields.

use crate::parse::{argument, named};
use crate::table::{of_file, with_traits};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{
    Attribute, Error, Expr, Ident, ItemStruct, LitStr, Path, Result, Token, Type, parse_quote,
};

/// The table with lists, and its points.
pub fn expand(arguments: TokenStream, item: ItemStruct) -> Result<TokenStream> {
    let (defined, point) = point.parse2(arguments)?;
    let name = &item.ident;
    let fields = &named(&item.fields)?.named;
    let names: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    let keys = fields
        .iter()
        .map(|field| key(&field.attrs, field.ident.as_ref()));
    let keys = keys.collect::<Result<Vec<_>>>()?;
    let defined = if defined {
        let mut table = item.clone();
        table.ident = parse_quote!(#point);
        for field in &mut table.fields {
            field.ty = value(&field.ty)?;
        }
        Some(with_traits(table, &TokenStream::new()))
    } else {
        None
    };
    let mut loops = quote!(points.push(#point { #(#names: Clone::clone(&#names)),* }););
    for name in names.iter().rev() {
        loops = quote!(for #name in self.#name.each() { #loops });
    }
    let grid = quote! {
        impl crate::sweep::Grid for #name {
            type Point = #point;

            fn lengths(&self) -> Vec<(String, usize)> {
                use crate::sweep::Field;
                let lengths = [#((#keys, self.#names.length())),*];
                lengths.into_iter()
                    .filter_map(|(key, length)| Some((key.to_string(), length?)))
                    .collect()
            }

            fn keep(&mut self, name: &str, index: usize) {
                use crate::sweep::Field;
                match name {
                    #(#keys => self.#names.keep(index),)*
                    _ => {}
                }
            }

            fn points(&self) -> Vec<#point> {
                use crate::sweep::Field;
                let mut points = Vec::new();
                #loops
                points
            }
        }
    };
    let table = of_file(item);
    Ok(quote!(#defined #table #grid))
}

/// `struct POINT`, which defines the point, or `POINT`.
fn point(input: ParseStream<'_>) -> Result<(bool, Path)> {
    let defined = input.parse::<Option<Token![struct]>>()?.is_some();
    Ok((defined, input.parse()?))
}

/// One value's type: `T` for `Sweep<T>`, `Option<T>` for `Option<Sweep<T>>`.
fn value(kind: &Type) -> Result<Type> {
    let swept = |kind| argument(kind, "Sweep").map(ToTokens::to_token_stream);
    if let Some(value) = swept(kind) {
        return Ok(parse_quote!(#value));
    }
    let value = argument(kind, "Option").and_then(swept);
    let value = value.ok_or_else(|| {
        let message = "a field of a grid is a `Sweep<TYPE>` or an `Option<Sweep<TYPE>>`";
        Error::new_spanned(kind, message)
    })?;
    Ok(parse_quote!(Option<#value>))
}

/// A field's key in files: its name, or its serde name.
fn key(attributes: &[Attribute], field: Option<&Ident>) -> Result<String> {
    let mut key = field.map(Ident::to_string).unwrap_or_default();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                key = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.input.peek(Token![=]) {
                meta.value()?.parse::<Expr>()?;
            }
            Ok(())
        })?;
    }
    Ok(key)
}
