//! The arguments of `#[operator(…)]` and `#[device(…)]`.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, Ident, Path, Token, parse_quote};

/// What `#[operator(…)]` says.
pub(crate) struct Arguments {
    pub(crate) identity: Expr,
    pub(crate) exact: Expr,
    pub(crate) commutative: Expr,
    pub(crate) on: Option<Path>,
    pub(crate) krate: Option<Path>,
}

/// One `key` or `key = value`.
enum Argument {
    Identity(Expr),
    Exact(Expr),
    Commutative(Expr),
    On(Path),
    Crate(Path),
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![crate]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            return Ok(Self::Crate(input.call(Path::parse_mod_style)?));
        }
        let key: Ident = input.parse()?;
        if key == "exact" && !input.peek(Token![=]) {
            return Ok(Self::Exact(parse_quote!(true)));
        }
        if key == "commutative" && !input.peek(Token![=]) {
            return Ok(Self::Commutative(parse_quote!(true)));
        }
        if !["identity", "exact", "commutative", "on"].iter().any(|known| key == known) {
            return Err(syn::Error::new(
                key.span(),
                format!(
                    "`{key}` is no argument of an operator; there are `identity = …`, `exact`, `commutative`, `on = …` and `crate = …`"
                ),
            ));
        }
        input.parse::<Token![=]>()?;
        match key.to_string().as_str() {
            "identity" => input.parse().map(Self::Identity),
            "exact" => input.parse().map(Self::Exact),
            "commutative" => input.parse().map(Self::Commutative),
            _ => input.parse().map(Self::On),
        }
    }
}

impl Arguments {
    /// Reads them; `identity` must be there.
    pub(crate) fn read(tokens: TokenStream) -> syn::Result<Self> {
        let list = syn::punctuated::Punctuated::<Argument, Token![,]>::parse_terminated;
        let (mut identity, mut exact, mut commutative) = (None, None, None);
        let (mut on, mut krate) = (None, None);
        for argument in list.parse2(tokens)? {
            match argument {
                Argument::Identity(value) => identity = Some(value),
                Argument::Exact(value) => exact = Some(value),
                Argument::Commutative(value) => commutative = Some(value),
                Argument::On(path) => on = Some(path),
                Argument::Crate(path) => krate = Some(path),
            }
        }
        let identity = identity.ok_or_else(|| {
            syn::Error::new(
                proc_macro2::Span::call_site(),
                "an operator needs its identity: write `#[operator(identity = 0)]` with the value that changes nothing",
            )
        })?;
        let or_false = |value: Option<Expr>| value.unwrap_or_else(|| parse_quote!(false));
        let (exact, commutative) = (or_false(exact), or_false(commutative));
        Ok(Self { identity, exact, commutative, on, krate })
    }
}

/// The `crate = path` of `#[device(…)]`, its only argument.
pub(crate) fn only_crate(tokens: TokenStream) -> syn::Result<Option<Path>> {
    if tokens.is_empty() {
        return Ok(None);
    }
    let parse = |input: ParseStream<'_>| match input.parse()? {
        Argument::Crate(path) => Ok(Some(path)),
        _ => Err(input.error("the only argument here is `crate = path`")),
    };
    parse.parse2(tokens)
}
