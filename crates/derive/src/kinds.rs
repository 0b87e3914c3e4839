//! The list of benchmarks.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Result};

/// Implements the calls of each kind, and defines `Workload`, the list of points.
pub fn derive(item: &DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    let Data::Enum(list) = &item.data else {
        return Err(Error::new_spanned(name, "expected an enumeration"));
    };
    let (mut names, mut grids, mut keys, mut comments) = (vec![], vec![], vec![], vec![]);
    for variant in &list.variants {
        match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                grids.push(&fields.unnamed[0].ty);
            }
            _ => return Err(Error::new_spanned(variant, "a kind has its grid: `NAME(GRID)`")),
        }
        keys.push(variant.ident.to_string().to_lowercase());
        comments.push(variant.attrs.iter().filter(|one| one.path().is_ident("doc")));
        names.push(&variant.ident);
    }
    let comments = comments.into_iter().map(|lines| quote!(#(#lines)*));
    let points = format_ident!("Workload");
    let each = |call| quote!(match self { #(Self::#names(kind) => #call,)* });
    let each_key = |call: fn(&str) -> TokenStream| {
        let calls = keys.iter().map(|key| call(key));
        quote!(match self { #(Self::#names(kind) => #calls,)* })
    };
    let [take, refusal, check, fit, combinations, columns, what] = [
        quote!(kind.take(beside)),
        quote!(Refusal::of(kind)),
        quote!(kind.check(series, run, check)),
        quote!(kind.fit(series, fit)),
        quote!(kind.combinations()),
        quote!(kind.columns()),
        quote!(what(kind)),
    ]
    .map(each);
    let [run, parameters] =
        [quote!(Runs::run(kind, setting)), quote!(kind.parameters())].map(each);
    let sections = each_key(|key| quote!(kind.sections(#key)));
    let key = each_key(|key| quote!(serde_json::json!({ #key: kind.key(run) })));
    Ok(quote! {
        /// What a point runs: a benchmark with one value for each field.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum #points {
            #(#comments #names(<#grids as Grid>::Point),)*
        }

        impl #name {
            /// The keys of all kinds, with what is drawn of each.
            pub const PLOTS: &'static [(&'static str, Plot)] = &[#((#keys, <#grids as Kind>::PLOT)),*];

            /// What it is, in words; see [`Kind::WHAT`].
            fn what(&self) -> &'static str {
                fn what<K: Kind>(_: &K) -> &'static str {
                    K::WHAT
                }
                #what
            }

            fn take(&mut self, beside: &mut Beside) {
                #take
            }

            /// Why it refuses faults, if it does.
            pub(crate) fn refuses_faults(&self) -> Option<Refusal> {
                #refusal
            }

            /// Finds what is wrong, whatever the machine; see [`Kind::check`].
            pub(crate) fn check(&self, series: &str, run: &Run, check: &mut Check<'_>) {
                #check
            }

            /// Finds what a machine does not admit; see [`Kind::fit`].
            pub(crate) fn fit(&self, series: &str, fit: &mut Fit<'_>) {
                #fit
            }

            /// How many combinations of values there are.
            pub(crate) fn combinations(&self) -> u64 {
                #combinations
            }

            /// The fields whose values tell its points apart; see [`Kind::columns`].
            pub(crate) fn columns(&self) -> Map<String, Value> {
                #columns
            }

            /// All combinations of values.
            pub(crate) fn workloads(&self) -> Vec<#points> {
                match self {
                    #(Self::#names(kind) => kind.points().into_iter().map(#points::#names).collect(),)*
                }
            }
        }

        impl serde::Serialize for #name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #sections.serialize(serializer)
            }
        }

        impl #points {
            /// Runs it; see [`Runs::run`].
            pub(crate) fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
                #run
            }

            /// What distinguishes it in tables and figures; see [`Runs::parameters`].
            pub(crate) fn parameters(&self) -> Map<String, Value> {
                #parameters
            }

            /// What of it decides the result; see [`Runs::key`].
            pub(crate) fn key(&self, run: &mut Value) -> Value {
                #key
            }
        }
    })
}
