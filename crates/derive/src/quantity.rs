//! Quantities' text form: a number and its unit.

use crate::parse::{arguments, of_struct};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, Fields, Ident, Result};

/// Implements the text form's traits for a newtype over an unsigned integer.
pub fn derive(item: &DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    let (Fields::Unnamed(_), Some(scale)) = (of_struct(item)?, arguments(&item.attrs, "scale")?)
    else {
        let message = "a quantity is a number with its units: `#[scale(TIME)] struct NAME(u64);`";
        return Err(Error::new_spanned(name, message));
    };
    let scale: Ident = syn::parse2(scale)?;
    let scale = quote!(crate::scale::#scale);
    Ok(quote! {
        impl std::str::FromStr for #name {
            type Err = crate::UnitError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                // `parse` bounds the value by the range of the type.
                crate::text::parse(text, &#scale).map(|value| Self(value as _))
            }
        }

        impl std::fmt::Display for #name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                crate::text::print(f, u64::from(self.0), &#scale)
            }
        }

        impl serde::Serialize for #name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for #name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let quantity = #scale.quantity;
                // "Any", so that the visitor sees a bare number and can report that it lacks a
                // unit.
                deserializer.deserialize_any(crate::form::Text(quantity, std::marker::PhantomData))
            }
        }

        impl schemars::JsonSchema for #name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!(#name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": #scale.pattern(),
                    "description": #scale.description(),
                })
            }
        }
    })
}
