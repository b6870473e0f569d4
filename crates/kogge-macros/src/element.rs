//! `#[derive(Element)]`: a struct that every engine knows.

use crate::attempt::Errors;
use crate::path;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields, FieldsNamed, Ident, Path, Token, Type};

/// What `#[element(…)]` says.
#[derive(Default)]
struct Arguments {
    krate: Option<Path>,
    /// The type parameter and the types to be elements for.
    instances: Option<(Ident, Vec<Type>)>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Self::default();
        while !input.is_empty() {
            if input.peek(Token![crate]) {
                input.parse::<Token![crate]>()?;
                input.parse::<Token![=]>()?;
                arguments.krate = Some(input.call(Path::parse_mod_style)?);
            } else {
                let parameter: Ident = input.parse()?;
                input.parse::<Token![=]>()?;
                let list;
                syn::bracketed!(list in input);
                let types = Punctuated::<Type, Token![,]>::parse_terminated(&list)?;
                arguments.instances = Some((parameter, types.into_iter().collect()));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let tokens = read(item, &mut errors).filter(|_| errors.is_empty()).unwrap_or_default();
    let errors = errors.into_tokens();
    quote!(#errors #tokens)
}

fn read(item: TokenStream, errors: &mut Errors) -> Option<TokenStream> {
    let input: DeriveInput = errors.keep(syn::parse2(item))?;
    let arguments = errors.keep(arguments(&input))?;
    let krate = errors.keep(path::krate(arguments.krate.clone()))?;
    let Data::Struct(data) = &input.data else {
        errors
            .at(&input.ident, "an element is a struct; hold an enum's number in an integer field");
        return None;
    };
    let Fields::Named(fields) = &data.fields else {
        errors.at(
            &input.ident,
            "an element has named fields, which CUDA C++ and WGSL take over; name them",
        );
        return None;
    };
    if !is_repr_c(&input) {
        errors
            .at(&input.ident, "an element is laid out the same on every engine; add `#[repr(C)]`");
    }
    let parameters: Vec<_> = input.generics.params.iter().collect();
    let instances = match (parameters.as_slice(), &arguments.instances) {
        ([], None) => Vec::new(),
        ([syn::GenericParam::Type(parameter)], Some((name, types))) if parameter.ident == *name => {
            types.clone()
        }
        _ => {
            errors.at(
                &input.generics,
                "a generic element has one type parameter and lists its types: `#[element(T = [i32, f32])]`",
            );
            return None;
        }
    };
    for ty in fields.named.iter().map(|field| &field.ty).chain(&instances) {
        refuse(ty, errors);
    }
    let layout = layout(&krate, &input, fields, &instances);
    let device = device(&krate, &input, fields);
    Some(quote!(#layout #device))
}

fn arguments(input: &DeriveInput) -> syn::Result<Arguments> {
    let attribute = input.attrs.iter().find(|attribute| attribute.path().is_ident("element"));
    attribute.map_or(Ok(Arguments::default()), |attribute| attribute.parse_args())
}

fn is_repr_c(input: &DeriveInput) -> bool {
    input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")).any(|attribute| {
        let mut found = false;
        let _ = attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("C");
            // What stands in the parentheses of another one, as in `align(4)`.
            if meta.input.peek(syn::token::Paren) {
                meta.input.parse::<proc_macro2::Group>()?;
            }
            Ok(())
        });
        found
    })
}

/// Refuses the primitives that no field can be, as no trait bound could as clearly.
fn refuse(ty: &Type, errors: &mut Errors) {
    match ty {
        Type::Paren(inner) => refuse(&inner.elem, errors),
        Type::Group(inner) => refuse(&inner.elem, errors),
        Type::Array(array) => refuse(&array.elem, errors),
        Type::Path(path) => {
            let Some(name) = path.path.segments.last().map(|last| last.ident.to_string()) else {
                return;
            };
            let advice = match name.as_str() {
                "usize" => "use `u32` or `u64`, which have one size on every machine",
                "isize" => "use `i32` or `i64`, which have one size on every machine",
                "u128" | "i128" => "use an array of two `u64`",
                "f16" | "bf16" => {
                    "a half is an element by itself alone, widened to `f32` before an operator sees it; use `f32`"
                }
                "bool" => "use `u8` and compare with 0, because most bytes are no `bool`",
                "char" => "use `u32`, because most numbers are no `char`",
                _ => return,
            };
            errors.at(ty, format!("`{name}` can't be a field of an element; {advice}"));
        }
        _ => {}
    }
}

/// `Zeroable`, `Pod` and `Element`, with the proof that they may be implemented.
fn layout(
    krate: &Path,
    input: &DeriveInput,
    fields: &FieldsNamed,
    instances: &[Type],
) -> TokenStream {
    let (name, types) = (&input.ident, fields.named.iter().map(|field| &field.ty));
    let (parameters, arguments, clause) = input.generics.split_for_impl();
    let plain = types.clone().map(|ty| quote_spanned!(ty.span()=> plain::<#ty>();));
    // Of a generic struct, fields are checked for each type that it lists.
    let generic = types.clone().filter(|_| !input.generics.params.is_empty());
    let elements = generic.map(|ty| quote_spanned!(ty.span()=> #ty: #krate::Element,));
    let bounds = clause.map(|clause| {
        let predicates = clause.predicates.iter();
        quote!(#(#predicates,)*)
    });
    let calls = if instances.is_empty() {
        quote!(assert!(packed(), "an element has no padding; reorder its fields, or fill the gap with a field");)
    } else {
        quote!(#(assert!(packed::<#instances>(), "an element has no padding; fill the gap with a field");)*)
    };
    let whole = if instances.is_empty() {
        vec![quote!(#name)]
    } else {
        instances.iter().map(|ty| quote!(#name<#ty>)).collect()
    };
    quote! {
        const _: () = {
            const fn plain<T: #krate::Element>() {}
            /// Whether the fields, plain old data all of them, take up the struct to the last byte.
            #[allow(clippy::multiple_bound_locations)]
            const fn packed #parameters() -> bool where #(#elements)* #bounds {
                #(#plain)*
                ::core::mem::size_of::<#name #arguments>() == 0 #(+ ::core::mem::size_of::<#types>())*
            }
            #calls
        };
        #(
            // A crate that forbids `unsafe` may have these: that is about what it writes itself.
            // SAFETY: `repr(C)`, and `packed` has checked that all fields can be zeroed.
            unsafe impl #krate::bytemuck::Zeroable for #whole {}
            // SAFETY: `repr(C)`, and `packed` has checked that the fields are plain old data and
            // that nothing between or after them is padding. The compiler checks `Copy`.
            unsafe impl #krate::bytemuck::Pod for #whole {}
            impl #krate::Element for #whole {
                type Accumulator = Self;
            }
        )*
    }
}

/// `DeviceType`: the struct as data.
fn device(krate: &Path, input: &DeriveInput, fields: &FieldsNamed) -> TokenStream {
    let ident = &input.ident;
    let name = ident.to_string();
    let device = quote!(#krate::device);
    let (names, types): (Vec<_>, Vec<_>) =
        fields.named.iter().map(|field| (&field.ident, &field.ty)).unzip();
    let texts = names.iter().map(|name| name.as_ref().map(|name| name.unraw().to_string()));
    let built = types
        .iter()
        .map(|ty| quote_spanned!(ty.span()=> <#ty as #device::DeviceType>::device_type()));
    let mut generics = input.generics.clone();
    if !generics.params.is_empty() {
        let clause = generics.make_where_clause();
        clause.predicates.push(syn::parse_quote!(Self: ::core::marker::Copy + 'static));
        for ty in &types {
            clause.predicates.push(syn::parse_quote!(#ty: #device::DeviceType));
        }
    }
    let (parameters, arguments, clause) = generics.split_for_impl();
    quote! {
        impl #parameters #device::DeviceType for #ident #arguments #clause {
            fn device_type() -> #device::ir::Type {
                #device::ir::Type::Struct(#device::ir::Struct {
                    path: ::core::any::type_name::<Self>(),
                    name: #name,
                    fields: ::std::vec![
                        #(#device::ir::Field { name: #texts, ty: #built }),*
                    ],
                })
            }
            fn device_value(&self) -> #device::ir::Value {
                #device::ir::Value::Parts(::std::vec![
                    #(#device::DeviceType::device_value(&self.#names)),*
                ])
            }
        }
    }
}
