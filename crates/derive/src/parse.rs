//! Item parts that several attributes read.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Field, Fields, FieldsNamed, Lit, Meta, Result, Token,
};

/// The fields of a structure with a derived trait.
pub fn of_struct(item: &DeriveInput) -> Result<&Fields> {
    match &item.data {
        Data::Struct(data) => Ok(&data.fields),
        _ => Err(Error::new_spanned(&item.ident, "expected a structure")),
    }
}

/// The fields with names.
pub fn named(fields: &Fields) -> Result<&FieldsNamed> {
    match fields {
        Fields::Named(fields) => Ok(fields),
        other => Err(Error::new_spanned(other, "expected fields with names")),
    }
}

/// The arguments of the attribute with a name; `None` if there is no such attribute.
pub fn arguments(attributes: &[Attribute], name: &str) -> Result<Option<TokenStream>> {
    let mut found = attributes.iter().filter(|one| one.path().is_ident(name));
    let Some(first) = found.next() else {
        return Ok(None);
    };
    if let Some(second) = found.next() {
        let message = format!("a second attribute `{name}`");
        return Err(Error::new_spanned(second, message));
    }
    Ok(Some(first.meta.require_list()?.tokens.clone()))
}

/// Expressions with commas between them.
pub fn expressions(tokens: TokenStream) -> Result<Vec<Expr>> {
    let list = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens)?;
    Ok(list.into_iter().collect())
}

/// A field's comment, which is its column's description.
pub fn comment(field: &Field) -> Result<String> {
    let mut lines = Vec::new();
    for attribute in &field.attrs {
        if let Meta::NameValue(meta) = &attribute.meta
            && meta.path.is_ident("doc")
            && let Expr::Lit(text) = &meta.value
            && let Lit::Str(text) = &text.lit
        {
            lines.push(text.value().trim().to_string());
        }
    }
    if lines.is_empty() {
        let message = "a column needs a comment, which is its description";
        return Err(Error::new_spanned(field, message));
    }
    Ok(lines.join(" "))
}

/// The argument of a type with one, `NAME<ARGUMENT>`, as tokens; `None` if the type has another
/// name.
pub fn argument<'a>(kind: &'a syn::Type, name: &str) -> Option<&'a syn::Type> {
    let syn::Type::Path(path) = kind else {
        return None;
    };
    let last = path
        .path
        .segments
        .last()
        .filter(|last| last.ident == name)?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(list) => match list.args.first()? {
            syn::GenericArgument::Type(kind) => Some(kind),
            _ => None,
        },
        _ => None,
    }
}

/// An error for an unknown name, with the allowed names.
pub fn unknown(place: &impl ToTokens, allowed: &str) -> Error {
    let message = format!(
        "unknown `{}`: allowed are {allowed}",
        place.to_token_stream()
    );
    Error::new_spanned(place, message)
}
