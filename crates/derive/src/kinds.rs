//! The benchmark list.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Ident, Result, Type, Variant};

/// The variants, each with its grid and its key.
struct List<'a> {
    variants: Vec<&'a Variant>,
    names: Vec<&'a Ident>,
    grids: Vec<&'a Type>,
    keys: Vec<String>,
}

/// Implements each kind's calls, and defines `Workload`, the list of points.
pub fn derive(item: &DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    let Data::Enum(data) = &item.data else {
        return Err(Error::new_spanned(name, "expected an enumeration"));
    };
    let mut list = List {
        variants: data.variants.iter().collect(),
        names: data.variants.iter().map(|variant| &variant.ident).collect(),
        grids: Vec::new(),
        keys: Vec::new(),
    };
    for variant in &data.variants {
        match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                list.grids.push(&fields.unnamed[0].ty);
            }
            _ => {
                return Err(Error::new_spanned(
                    variant,
                    "a kind has its grid: `NAME(GRID)`",
                ));
            }
        }
        list.keys.push(variant.ident.to_string().to_lowercase());
    }
    let (kinds, points) = (list.kinds(name), list.points());
    Ok(quote!(#kinds #points))
}

impl List<'_> {
    /// A call for each kind.
    fn each(&self, call: &TokenStream) -> TokenStream {
        self.each_key(|_| call.clone())
    }

    /// A call for each kind, which depends on its key.
    fn each_key(&self, call: impl Fn(&str) -> TokenStream) -> TokenStream {
        let calls = self.keys.iter().map(|key| call(key));
        let names = &self.names;
        quote!(match self { #(Self::#names(kind) => #calls,)* })
    }

    fn kinds(&self, name: &Ident) -> TokenStream {
        let List {
            names, grids, keys, ..
        } = self;
        let [
            take,
            keep,
            lengths,
            refusal,
            check,
            fit,
            combinations,
            columns,
            words,
        ] = [
            quote!(kind.take(beside)),
            quote!(kind.keep(name, index)),
            quote!(kind.lengths()),
            quote!(Refusal::of(kind)),
            quote!(kind.check(series, run, check)),
            quote!(kind.fit(series, fit)),
            quote!(kind.combinations()),
            quote!(kind.columns()),
            quote!(what(kind)),
        ]
        .map(|call| self.each(&call));
        let sections = self.each_key(|key| quote!(kind.sections(#key)));
        quote! {
            impl #name {
                /// All keys, each with its plot.
                pub const PLOTS: &'static [(&'static str, Plot)] = &[
                    #((#keys, <#grids as Kind>::PLOT)),*
                ];

                /// Its key.
                fn key(&self) -> &'static str {
                    match self {
                        #(Self::#names(_) => #keys,)*
                    }
                }

                /// Its name in words; see [`Kind::WHAT`].
                fn what(&self) -> &'static str {
                    fn what<K: Kind>(_: &K) -> &'static str {
                        K::WHAT
                    }
                    #words
                }

                fn take(&mut self, beside: &mut CompanionSections) {
                    #take
                }

                /// The lists by their columns, and their lengths; see [`Grid::lengths`].
                pub(crate) fn lengths(&self) -> Vec<(String, usize)> {
                    #lengths
                }

                /// Keeps one value of a list; see [`Grid::keep`].
                pub(crate) fn keep(&mut self, name: &str, index: usize) {
                    #keep
                }

                /// The reasons to refuse faults, if it refuses them.
                pub(crate) fn refuses_faults(&self) -> Option<Refusal> {
                    #refusal
                }

                /// The checks without a machine; see [`Kind::check`].
                pub(crate) fn check(&self, series: &str, run: &Run, check: &mut Check<'_>) {
                    #check
                }

                /// The checks on a machine; see [`Kind::fit`].
                pub(crate) fn fit(&self, series: &str, fit: &mut Fit<'_>) {
                    #fit
                }

                /// The number of value combinations.
                pub(crate) fn combinations(&self) -> u64 {
                    #combinations
                }

                /// The fields that distinguish its points; see [`Kind::columns`].
                pub(crate) fn columns(&self) -> Map<String, Value> {
                    #columns
                }

                /// All value combinations.
                pub(crate) fn workloads(&self) -> Vec<Workload> {
                    match self {
                        #(
                            Self::#names(kind) => {
                                kind.points().into_iter().map(Workload::#names).collect()
                            }
                        )*
                    }
                }
            }

            impl serde::Serialize for #name {
                fn serialize<S: serde::Serializer>(
                    &self, serializer: S
                ) -> Result<S::Ok, S::Error> {
                    #sections.serialize(serializer)
                }
            }
        }
    }

    fn points(&self) -> TokenStream {
        let List { names, grids, .. } = self;
        let comments = self.variants.iter().map(|variant| {
            let lines = variant
                .attrs
                .iter()
                .filter(|one| one.path().is_ident("doc"));
            quote!(#(#lines)*)
        });
        let run = self.each(&quote!(Runs::run(kind, setting)));
        let parameters = self.each(&quote!(kind.parameters()));
        let key = self.each_key(|key| quote!(serde_json::json!({ #key: kind.key(run) })));
        quote! {
            /// A point's benchmark: one value for each field.
            #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
            #[serde(rename_all = "kebab-case")]
            pub enum Workload {
                #(#comments #names(<#grids as Grid>::Point),)*
            }

            impl Workload {
                /// Runs it; see [`Runs::run`].
                pub(crate) fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
                    #run
                }

                /// Its parameters in tables and figures; see [`Runs::parameters`].
                pub(crate) fn parameters(&self) -> Map<String, Value> {
                    #parameters
                }

                /// The part that decides the result; see [`Runs::key`].
                pub(crate) fn key(&self, run: &mut Value) -> Value {
                    #key
                }
            }
        }
    }
}
