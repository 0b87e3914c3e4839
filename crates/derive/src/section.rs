//! Machine file sections.

use crate::parse::{argument, arguments, named, unknown};
use crate::table::of_file;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Field, Ident, ItemStruct, LitStr, Path, Result, Token, Type, parenthesized};

/// The arguments of `#[section(...)]`.
struct Head {
    key: LitStr,
    config: Option<Path>,
    more: Option<(Ident, Type)>,
    /// The bounds for all parameters with a type.
    within: Vec<(Type, Expr)>,
}

/// The arguments of `#[param(...)]`.
#[derive(Default)]
struct Param {
    within: Option<Expr>,
    fabric: bool,
    default: Option<Expr>,
    unmapped: bool,
}

/// The table, its checks, and its part in the simulator's configuration.
pub fn expand(arguments: TokenStream, mut item: ItemStruct) -> Result<TokenStream> {
    let head = head.parse2(arguments)?;
    let name = &item.ident;
    let (mut checks, mut sets, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for field in &named(&item.fields)?.named {
        let (param, ident) = (param(field)?, &field.ident);
        if let Some(bounds) = param.within.as_ref().or(head.bounds(&field.ty)) {
            let key = format!("{}.{}", head.key.value(), ident.to_token_stream());
            checks.push(quote! {
                if let Some(value) = crate::section::Parameterised::given(&self.#ident) {
                    crate::section::Bounds::check(&(#bounds), #key, value, check);
                }
            });
        }
        let value = if let Some(default) = &param.default {
            quote!(crate::section::Parameterised::given(&self.#ident).unwrap_or(#default))
        } else {
            quote!(self.#ident.value.clone())
        };
        if param.fabric {
            sets.push(quote!(config.#ident = crate::section::Resolve::resolve(#value, scale);));
        } else if !param.unmapped {
            values.push(quote!(#ident: #value));
        }
    }
    let set = (!sets.is_empty()).then(|| {
        quote! {
            /// Sets the fabric's parameters.
            pub(crate) fn set(&self, config: &mut fabric::Config, scale: &crate::section::Scale) {
                #(#sets)*
            }
        }
    });
    let config = head.config.as_ref().map(|config| {
        let (more, kind): (Vec<_>, Vec<_>) = head.more.iter().cloned().unzip();
        quote! {
            /// In the simulator's terms.
            pub(crate) fn config(&self, #(#more: #kind)*) -> #config {
                #config { #(#values,)* #(#more)* }
            }
        }
    });
    let code = quote! {
        impl crate::section::Section for #name {
            fn check(&self, check: &mut crate::check::Check<'_>) {
                #(#checks)*
            }
        }

        impl #name {
            #set
            #config
        }
    };
    for field in &mut item.fields {
        field.attrs.retain(|one| !one.path().is_ident("param"));
    }
    let table = of_file(item);
    Ok(quote!(#table #code))
}

impl Head {
    /// The bounds for a parameter without its own.
    fn bounds(&self, kind: &Type) -> Option<&Expr> {
        let kind = argument(kind, "Option").unwrap_or(kind);
        let kind = argument(kind, "Param")?.to_token_stream().to_string();
        let mut all = self.within.iter();
        let found = all.find(|(of, _)| of.to_token_stream().to_string() == kind);
        found.map(|(_, bounds)| bounds)
    }
}

fn head(input: ParseStream<'_>) -> Result<Head> {
    let mut head = Head {
        key: input.parse()?,
        config: None,
        more: None,
        within: Vec::new(),
    };
    while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
        let word: Ident = input.parse()?;
        if word == "config" {
            input.parse::<Token![=]>()?;
            head.config = Some(input.parse()?);
        } else if word == "more" {
            let inner;
            parenthesized!(inner in input);
            let field = inner.parse()?;
            inner.parse::<Token![:]>()?;
            head.more = Some((field, inner.parse()?));
        } else if word == "within" {
            let inner;
            parenthesized!(inner in input);
            let kind = inner.parse()?;
            inner.parse::<Token![=]>()?;
            head.within.push((kind, inner.parse()?));
        } else {
            return Err(unknown(
                &word,
                "config = TYPE, more(FIELD: TYPE), within(TYPE = BOUNDS)",
            ));
        }
    }
    Ok(head)
}

fn param(field: &Field) -> Result<Param> {
    let mut param = Param::default();
    let Some(tokens) = arguments(&field.attrs, "param")? else {
        return Ok(param);
    };
    let read = |meta: ParseNestedMeta<'_>| {
        match meta.path.require_ident()?.to_string().as_str() {
            "within" => param.within = Some(meta.value()?.parse()?),
            "fabric" => param.fabric = true,
            "default" => param.default = Some(meta.value()?.parse()?),
            "unmapped" => param.unmapped = true,
            _ => {
                return Err(unknown(
                    &meta.path,
                    "within = BOUNDS, fabric, default = VALUE, unmapped",
                ));
            }
        }
        Ok(())
    };
    syn::meta::parser(read).parse2(tokens)?;
    Ok(param)
}
