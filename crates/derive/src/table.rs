//! Tables in files, and the words among which a table's key chooses.

use crate::parse::argument;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Error, ItemEnum, ItemStruct, Result, parse_quote};

/// The table alone.
pub fn expand(arguments: &TokenStream, item: ItemStruct) -> Result<TokenStream> {
    if arguments.is_empty() {
        Ok(of_file(item).into_token_stream())
    } else {
        Err(Error::new_spanned(arguments, "`table` has no arguments"))
    }
}

/// Gives a structure the file traits and their schema.
pub fn of_file(item: ItemStruct) -> ItemStruct {
    with_traits(item, &quote!(schemars::JsonSchema))
}

/// Gives a structure the file traits, and others. An option's key may be missing.
pub fn with_traits(mut item: ItemStruct, more: &TokenStream) -> ItemStruct {
    let traits = parse_quote!(
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, #more)]
    );
    // Before the attributes that these traits read.
    item.attrs.insert(0, traits);
    item.attrs.push(parse_quote!(#[serde(deny_unknown_fields)]));
    for field in &mut item.fields {
        if argument(&field.ty, "Option").is_some() {
            field.attrs.push(parse_quote! {
                #[serde(default, skip_serializing_if = "Option::is_none")]
            });
        }
    }
    item
}

/// Gives an enumeration the file traits and their schema, with its variants as words.
pub fn choice(arguments: &TokenStream, mut item: ItemEnum) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`choice` has no arguments"));
    }
    if let Some(variant) = item.variants.iter().find(|one| !one.fields.is_empty()) {
        return Err(Error::new_spanned(variant, "a choice has no fields"));
    }
    let traits: [Attribute; 2] = [
        parse_quote! {
            #[derive(
                Clone, Copy, Debug, PartialEq, Eq,
                serde::Serialize, serde::Deserialize, schemars::JsonSchema
            )]
        },
        parse_quote!(#[serde(rename_all = "kebab-case")]),
    ];
    item.attrs.splice(0..0, traits);
    Ok(item.into_token_stream())
}
