//! Where the generated code finds `kogge`.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::Span;
use quote::quote;
use syn::{Ident, Path, parse_quote};

/// The path of `kogge`, or of `kogge-core` where only that is a dependency.
///
/// Within these two crates their own names work too: they are `extern crate self`.
pub(crate) fn krate(given: Option<Path>) -> syn::Result<Path> {
    if let Some(path) = given {
        return Ok(path);
    }
    for package in ["kogge", "kogge-core"] {
        let name = match crate_name(package) {
            Ok(FoundCrate::Itself) => package.replace('-', "_"),
            Ok(FoundCrate::Name(name)) => name,
            Err(_) => continue,
        };
        let name = Ident::new(&name, Span::call_site());
        return Ok(parse_quote!(::#name));
    }
    Err(syn::Error::new_spanned(
        quote!(),
        "`kogge` is not among this package's dependencies; add it, or say where it is: `crate = path`",
    ))
}
