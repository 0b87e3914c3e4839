//! C functions that programs call.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemFn, LitStr, Result};

/// Exports a function by its name, and notes the call while it runs. The argument is its name in
/// reports, if it is another one.
pub fn expand(shown: TokenStream, item: &ItemFn) -> Result<TokenStream> {
    let (attributes, signature, body) = (&item.attrs, &item.sig, &item.block.stmts);
    let shown = if shown.is_empty() {
        signature.ident.to_string()
    } else {
        syn::parse2::<LitStr>(shown)?.value()
    };
    Ok(quote! {
        #(#attributes)*
        #[unsafe(no_mangle)]
        #signature {
            let _call = ::native::call(const { link::calls::number(#shown) });
            #(#body)*
        }
    })
}
