//! `#[operator]`: from a function to a struct with its implementations.

use crate::arguments::Arguments;
use crate::attempt::Errors;
use crate::language::{self, Parameter, Signature, Translator};
use crate::path;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, GenericParam, Ident, ItemFn, PathArguments, Type, TypeParamBound, parse_quote,
};

/// The operator that another one wraps: the parameter, its type parameter, and its element.
struct Inner {
    name: Ident,
    operator: Ident,
    element: Type,
}

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let tokens = read(arguments, item, &mut errors).unwrap_or_default();
    let errors = errors.into_tokens();
    quote!(#errors #tokens)
}

fn read(arguments: TokenStream, item: TokenStream, errors: &mut Errors) -> Option<TokenStream> {
    let arguments = errors.keep(Arguments::read(arguments));
    let function: ItemFn = errors.keep(syn::parse2(item).map_err(|error| {
        syn::Error::new(
            error.span(),
            "an operator is written as a function: `fn Name(left: T, right: T) -> T { … }`",
        )
    }))?;
    let mut signature = language::signature(&function, errors)?;
    let inner = inner(&function, &mut signature, errors);
    check(&function, &signature, errors)?;
    let arguments = arguments?;
    let krate = errors.keep(path::krate(arguments.krate.clone()))?;
    Some(write(&arguments, &krate, &function, &signature, inner.as_ref(), errors))
}

/// Takes a first parameter `name: &O` off the signature.
fn inner(function: &ItemFn, signature: &mut Signature, errors: &mut Errors) -> Option<Inner> {
    let first = signature.parameters.first()?;
    let Type::Reference(_) = &first.ty else { return None };
    let Parameter { name, ty, .. } = signature.parameters.remove(0);
    let Type::Reference(reference) = &ty else { return None };
    let operator = match &*reference.elem {
        Type::Path(path) => path.path.get_ident().cloned(),
        _ => None,
    };
    let element = operator.as_ref().and_then(|operator| element_of(function, operator));
    match (operator, element) {
        (Some(operator), Some(element)) => Some(Inner { name, operator, element }),
        _ => {
            errors.at(reference, "a reference here is to an inner operator; write `inner: &O` with `O: Operator<T>` among the type parameters, or take the value itself");
            None
        }
    }
}

/// The `T` of the bound `O: Operator<T>`.
fn element_of(function: &ItemFn, operator: &Ident) -> Option<Type> {
    let parameters = function.sig.generics.type_params();
    let bounds =
        parameters.filter(|param| param.ident == *operator).flat_map(|param| &param.bounds);
    for bound in bounds {
        if let TypeParamBound::Trait(bound) = bound
            && let Some(last) = bound.path.segments.last()
            && last.ident == "Operator"
            && let PathArguments::AngleBracketed(arguments) = &last.arguments
            && let Some(syn::GenericArgument::Type(element)) = arguments.args.first()
        {
            return Some(element.clone());
        }
    }
    None
}

fn check(function: &ItemFn, signature: &Signature, errors: &mut Errors) -> Option<()> {
    let [left, right] = signature.parameters.as_slice() else {
        errors.at(
            &function.sig.inputs,
            "an operator combines two elements; write `(left: T, right: T)`",
        );
        return None;
    };
    let element = text(&left.ty);
    for ty in [&right.ty, &signature.result] {
        if text(ty) != element {
            errors.at(
                ty,
                format!(
                    "both operands and the result of an operator are of one type; write `{element}`"
                ),
            );
        }
    }
    for param in &function.sig.generics.params {
        if !matches!(param, GenericParam::Type(_)) {
            errors.at(param, "an operator's parameters are types; leave this out");
        }
    }
    Some(())
}

fn text(ty: &Type) -> String {
    quote!(#ty).to_string().replace(' ', "")
}

fn write(
    arguments: &Arguments,
    krate: &syn::Path,
    function: &ItemFn,
    signature: &Signature,
    inner: Option<&Inner>,
    errors: &mut Errors,
) -> TokenStream {
    let name = &function.sig.ident;
    let wrapped = inner.map(|inner| (inner.name.clone(), inner.element.clone()));
    let translator =
        Translator::new(krate.clone(), name.clone(), &function.sig.generics, wrapped, errors);
    let path = quote!(::core::any::type_name::<Self>());
    // An operator may borrow, so it has no id; its path is enough, for an operator is written but
    // once.
    let translation =
        translator.function(signature, &function.block, path, quote!(None)).unless(errors);

    let (docs, others): (Vec<_>, Vec<_>) =
        function.attrs.iter().partition(|attribute| attribute.path().is_ident("doc"));
    let allowed = language::allowed(&function.attrs);
    let target = match (&arguments.on, inner) {
        (Some(on), _) => quote!(#on),
        (None, Some(Inner { operator, .. })) => quote!(#name<#operator>),
        (None, None) => quote!(#name),
    };
    let item = arguments.on.is_none().then(|| item(function, &docs, inner));
    let ours = inner.map(|inner| &inner.name);
    let bind = ours.map(|name| quote!(let #name = &self.0;));
    let in_scope = ours.map(|_| quote!(use #krate::Operator as _;));

    let [left, right] = [0, 1].map(|i| &signature.parameters[i]);
    let (left_pattern, right_pattern, element) = (&left.pattern, &right.pattern, &left.ty);
    let (identity, exact) = (&arguments.identity, &arguments.exact);
    let commutative = &arguments.commutative;
    // The operator language has nothing to wait with.
    let nonblocking = inner.map_or(quote!(true), |Inner { operator, element, .. }| {
        quote!(<#operator as #krate::Operator<#element>>::NONBLOCKING)
    });
    let (body, data) = (translation.rust, translation.data);
    let generics = &function.sig.generics;
    let (parameters, _, clause) = generics.split_for_impl();
    let mut device = generics.clone();
    if let Some(Inner { operator, element, .. }) = inner {
        let bound = parse_quote!(#operator: #krate::device::DeviceOperator<#element>);
        device.make_where_clause().predicates.push(bound);
    }
    let (_, _, device_clause) = device.split_for_impl();

    quote! {
        #item

        impl #parameters #krate::Operator<#element> for #target #clause {
            const EXACT: bool = #exact;
            const COMMUTATIVE: bool = #commutative;
            const NONBLOCKING: bool = #nonblocking;
            #[inline(always)]
            fn identity(&self) -> #element {
                #in_scope
                #bind
                #identity
            }
            #(#others)*
            #[inline(always)]
            fn combine(&self, #left_pattern: #element, #right_pattern: #element) -> #element {
                #bind
                #body
            }
        }

        impl #parameters #krate::device::DeviceOperator<#element> for #target #device_clause {
            #(#allowed)*
            fn function(&self) -> #krate::device::ir::Function {
                #bind
                #data
            }
        }
    }
}

/// The struct that the operator is.
fn item(function: &ItemFn, docs: &[&Attribute], inner: Option<&Inner>) -> TokenStream {
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let fields = inner.map(|Inner { operator, .. }| {
        let doc = "The inner operator.";
        quote!(<#operator>(#[doc = #doc] pub #operator))
    });
    quote! {
        #(#docs)*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #visibility struct #name #fields;
    }
}
