//! `#[device]`: a function that operators can call.

use crate::arguments::only_crate;
use crate::attempt::Errors;
use crate::language::{self, Translator};
use crate::path;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let tokens = read(arguments, item, &mut errors).unwrap_or_default();
    let errors = errors.into_tokens();
    quote!(#errors #tokens)
}

fn read(arguments: TokenStream, item: TokenStream, errors: &mut Errors) -> Option<TokenStream> {
    let krate = errors.keep(only_crate(arguments).and_then(path::krate));
    let function: ItemFn = errors.keep(syn::parse2(item).map_err(|error| {
        syn::Error::new(
            error.span(),
            "`#[kogge::device]` stands on a function: `fn name(x: f32) -> f32 { … }`",
        )
    }))?;
    if !function.sig.generics.params.is_empty() {
        errors.at(
            &function.sig.generics,
            "a device function has no type parameters; write one for each type",
        );
    }
    let signature = language::signature(&function, errors)?;
    let krate = krate?;

    let name = &function.sig.ident;
    let translator =
        Translator::new(krate.clone(), name.clone(), &function.sig.generics, None, errors);
    let path = quote!(::core::any::type_name::<Self>());
    // Blocks of one function may have functions of the same path.
    let id = quote!(Some(::core::any::TypeId::of::<Self>()));
    let translation = translator.function(&signature, &function.block, path, id).unless(errors);

    let (attributes, visibility, result) = (&function.attrs, &function.vis, &signature.result);
    let allowed = language::allowed(attributes);
    let (patterns, types): (Vec<_>, Vec<_>) =
        signature.parameters.iter().map(|p| (&p.pattern, &p.ty)).unzip();
    let (body, data) = (translation.rust, translation.data);
    Some(quote! {
        #(#attributes)*
        #[inline(always)]
        #visibility fn #name(#(#patterns: #types),*) -> #result { #body }

        // A type of the same name, so that whoever imports the function has its data too.
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility struct #name {}

        impl #krate::device::DeviceFunction for #name {
            #(#allowed)*
            fn function() -> #krate::device::ir::Function {
                #data
            }
        }
    })
}
