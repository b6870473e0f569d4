//! The operator language: from Rust syntax to Rust and to data, or to an error.
//!
//! [`Translator`] walks a function once. Each node comes out twice, as [`Both`]: the Rust that runs
//! on the CPU and the expression that builds the same node of `device::ir`. So the two can't differ
//! in what they accept.
//!
//! Which variable a name means is for the Rust compiler to say, which knows what a macro can't see:
//! where `macro_rules!` made a name. So the text that builds the data has the function's own
//! scopes, and in them a variable of each name, which holds what it is called in the data: no two
//! the same.

mod call;
mod expression;
mod literal;
mod pattern;
mod statement;
mod types;
mod words;

use crate::attempt::Errors;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::{Attribute, Block, FnArg, Generics, Ident, ItemFn, Pat, Path, ReturnType, Type};

/// One node, twice.
#[derive(Clone)]
pub(crate) struct Both {
    /// As Rust that runs.
    pub(crate) rust: TokenStream,
    /// As Rust that builds the node of `device::ir`.
    pub(crate) data: TokenStream,
}

impl Both {
    /// Stands for what was refused, and has any type. It is in no program: whoever puts it down has
    /// taken note of an error, and every macro gives the errors out as `compile_error!`s beside it.
    fn refused() -> Self {
        let nothing = quote!(loop {});
        Self { rust: nothing.clone(), data: nothing }
    }
}

/// A function's signature, as far as the language goes.
pub(crate) struct Signature {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: Type,
}

/// A parameter: `name: ty` or `mut name: ty`.
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    pub(crate) pattern: Pat,
    pub(crate) ty: Type,
}

/// A function, twice.
pub(crate) struct Translation {
    /// The body as Rust.
    pub(crate) rust: TokenStream,
    /// An expression that builds the `device::ir::Function`.
    pub(crate) data: TokenStream,
}

impl Translation {
    /// Nothing to compile if there are errors: what Rust would say of the rest helps nobody.
    pub(crate) fn unless(self, errors: &Errors) -> Self {
        if errors.is_empty() {
            return self;
        }
        let Both { rust, data } = Both::refused();
        Self { rust, data }
    }
}

/// Walks one function.
pub(crate) struct Translator<'e> {
    /// Where `kogge` is.
    krate: Path,
    /// The function's own name, which it may not call.
    function: Ident,
    /// The operator that this one wraps, if any, and its element.
    inner: Option<(Ident, Type)>,
    /// The names of the type parameters.
    parameters: Vec<Ident>,
    /// The variables in scope by name, inner ones last.
    scope: Vec<String>,
    /// The names of all variables so far, in scope or not.
    declared: Vec<String>,
    errors: &'e mut Errors,
}

impl<'e> Translator<'e> {
    pub(crate) fn new(
        krate: Path,
        function: Ident,
        generics: &Generics,
        inner: Option<(Ident, Type)>,
        errors: &'e mut Errors,
    ) -> Self {
        let parameters = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
        let (scope, declared) = (Vec::new(), Vec::new());
        Self { krate, function, inner, parameters, scope, declared, errors }
    }

    /// Translates a function; `path` and `id` build what tells functions of one name apart.
    pub(crate) fn function(
        mut self,
        signature: &Signature,
        body: &Block,
        path: TokenStream,
        id: TokenStream,
    ) -> Translation {
        let ir = self.ir();
        let (mut parameters, mut variables) = (Vec::new(), Vec::new());
        for parameter in &signature.parameters {
            let ty = self.ty(&parameter.ty);
            let (name, variable) = self.declare(&parameter.name);
            parameters.push(quote!(#ir::Parameter { name: #name, ty: #ty }));
            variables.push(variable);
        }
        let (name, result) = (self.function.to_string(), self.ty(&signature.result));
        let body = self.block(body);
        let (rust, statements) = (body.rust, body.data);
        let data = quote! {
            #ir::Function {
                path: #path,
                id: #id,
                name: #name,
                parameters: ::std::vec![#(#parameters),*],
                result: #result,
                body: {
                    #(#variables)*
                    #statements
                },
            }
        };
        Translation { rust, data }
    }

    /// The path of `device::ir`.
    fn ir(&self) -> TokenStream {
        let krate = &self.krate;
        quote!(#krate::device::ir)
    }

    /// The path of `device::lang`.
    fn lang(&self) -> TokenStream {
        let krate = &self.krate;
        quote!(#krate::device::lang)
    }

    /// Whether a variable in scope has this name; where macros made names, it may be another one.
    fn knows(&self, name: &Ident) -> bool {
        self.scope.contains(&text(name))
    }

    /// A new variable: its name in the data, and the `let` that stands for it in what builds that.
    fn declare(&mut self, name: &Ident) -> (String, TokenStream) {
        let (ir, text) = (self.ir(), text(name));
        let namesakes = self.declared.iter().filter(|declared| **declared == text).count();
        self.scope.push(text.clone());
        self.declared.push(text.clone());
        // No name of Rust has a prime in it.
        let unique = text + &"'".repeat(namesakes);
        // Used, because the function's own text is where one that isn't is told of.
        let variable = quote!(let #name = #ir::Variable(#unique); let _ = #name;);
        (unique, variable)
    }

    /// Takes note of an error and goes on with a value of any type.
    fn refuse(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) -> Both {
        self.errors.at(tokens, message);
        Both::refused()
    }
}

/// Reads a function's signature; errors are at what the language has no place for.
pub(crate) fn signature(function: &ItemFn, errors: &mut Errors) -> Option<Signature> {
    let refused: [(Option<&dyn ToTokens>, &str); 4] = [
        (function.sig.constness.as_ref().map(|t| t as _), "leave out `const`"),
        (function.sig.asyncness.as_ref().map(|t| t as _), "leave out `async`"),
        (function.sig.abi.as_ref().map(|t| t as _), "leave out `extern`"),
        (function.sig.variadic.as_ref().map(|t| t as _), "name each parameter"),
    ];
    for (tokens, advice) in refused {
        if let Some(tokens) = tokens {
            errors.at(tokens, format!("a function of the operator language is plain; {advice}"));
        }
    }
    let parameters = function.sig.inputs.iter().map(parameter);
    let parameters = errors.keep(parameters.collect::<syn::Result<Vec<_>>>());
    let result = match &function.sig.output {
        ReturnType::Type(_, ty) => Some((**ty).clone()),
        ReturnType::Default => {
            errors.at(&function.sig.ident, "this function returns nothing; write `-> Type`");
            None
        }
    };
    Some(Signature { parameters: parameters?, result: result? })
}

fn parameter(argument: &FnArg) -> syn::Result<Parameter> {
    let FnArg::Typed(argument) = argument else {
        return Err(syn::Error::new_spanned(
            argument,
            "a function of the operator language has no `self`; write a parameter with its type",
        ));
    };
    match &*argument.pat {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Ok(Parameter {
            name: name.ident.clone(),
            pattern: (*argument.pat).clone(),
            ty: (*argument.ty).clone(),
        }),
        other => Err(syn::Error::new_spanned(
            other,
            "a parameter is a name; take its fields apart with `let` in the body",
        )),
    }
}

/// What a function allows, which what builds its data needs too, since variables have their names
/// there.
pub(crate) fn allowed(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("allow"))
}

/// A name without the `r#` that may be before it.
fn text(name: &Ident) -> String {
    name.unraw().to_string()
}

/// An identifier that user code can't mean.
fn hidden(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
