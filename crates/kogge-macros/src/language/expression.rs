//! Expressions: operators, fields and elements, struct and array literals, branches.

use super::statement::has_index;
use super::{Both, Translator, hidden, text};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    BinOp, Block, Expr, ExprCast, ExprIf, ExprMatch, ExprPath, ExprStruct, ExprUnary, Lit, Member,
    Type, UnOp,
};

pub(super) const NO_MACROS: &str = "there are no macros within an operator; write out what it stands for, or a `#[kogge::device]` function";

impl Translator<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Both {
        match expr {
            Expr::Group(group) => self.expr(&group.expr),
            Expr::Paren(group) => self.expr(&group.expr),
            Expr::Lit(literal) => self.literal(literal, false),
            Expr::Path(path) => self.path(path),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(binary) => self.binary(&binary.left, &binary.op, &binary.right),
            Expr::Cast(cast) => self.cast(cast),
            Expr::Field(field) => match &field.member {
                Member::Named(name) => {
                    let base = self.expr(&field.base);
                    self.field(base, name)
                }
                Member::Unnamed(_) => self.refuse(
                    &field.member,
                    "fields have names here; use a struct with named fields, or an array",
                ),
            },
            Expr::Index(index) => self.index(&index.expr, &index.index),
            Expr::Struct(literal) => self.structure(literal),
            Expr::Array(array) => {
                let elements: Vec<_> = array.elems.iter().map(|e| self.expr(e)).collect();
                let (ir, (rust, data)) = (self.ir(), split(elements));
                Both {
                    rust: quote!([#(#rust),*]),
                    data: quote!(#ir::Expr::Array(::std::vec![#(#data),*])),
                }
            }
            Expr::Repeat(repeat) => self.repeat(&repeat.expr, &repeat.len),
            Expr::If(branch) => self.branch(branch),
            Expr::Match(choice) => self.choice(choice),
            Expr::Block(block) if block.label.is_none() => {
                let (ir, Both { rust, data }) = (self.ir(), self.block(&block.block));
                Both { rust, data: quote!(#ir::Expr::Block(#data)) }
            }
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method(call),
            _ => self.refuse(expr, instead_of(expr)),
        }
    }

    /// A variable, or a constant of the program around.
    fn path(&mut self, path: &ExprPath) -> Both {
        let ir = self.ir();
        if let Some(name) = path.path.get_ident() {
            if self.knows(name) {
                let data = quote_spanned!(path.span()=> #ir::Named::named(#path));
                return Both { rust: quote!(#path), data };
            }
            if self.inner.as_ref().is_some_and(|(inner, _)| inner == name) {
                return self.refuse(
                    path,
                    format!("the inner operator is no value; call `{name}.combine(left, right)`"),
                );
            }
        }
        let data = quote_spanned!(path.span()=> #ir::Expr::constant(#path));
        Both { rust: quote!(#path), data }
    }

    fn unary(&mut self, unary: &ExprUnary) -> Both {
        let word = match unary.op {
            UnOp::Neg(_) => {
                // `-128i8` is one literal: 128 alone would be out of range.
                if let Expr::Lit(literal) = &*unary.expr
                    && matches!(literal.lit, Lit::Int(_) | Lit::Float(_))
                {
                    return self.literal(literal, true);
                }
                ("neg", "Neg")
            }
            UnOp::Not(_) => ("not", "Not"),
            _ => {
                return self.refuse(
                    unary,
                    "there are no references in the operator language; leave out the `*`",
                );
            }
        };
        let operand = self.expr(&unary.expr);
        self.word(unary.op, word.0, word.1, vec![operand])
    }

    fn binary(&mut self, left: &Expr, operator: &BinOp, right: &Expr) -> Both {
        let (left, right) = (self.expr(left), self.expr(right));
        let logical = match operator {
            BinOp::And(_) => Some("And"),
            BinOp::Or(_) => Some("Or"),
            _ => None,
        };
        if let Some(variant) = logical {
            let (ir, variant) = (self.ir(), hidden(variant));
            let (rust_left, rust_right) = (left.rust, right.rust);
            let (left, right) = (left.data, right.data);
            return Both {
                rust: quote!((#rust_left #operator #rust_right)),
                data: quote!(#ir::Expr::#variant(
                    ::std::boxed::Box::new(#left), ::std::boxed::Box::new(#right),
                )),
            };
        }
        match infix(operator) {
            Some((function, variant)) => self.word(operator, function, variant, vec![left, right]),
            None => self.refuse(operator, "an assignment is a statement here; end it with `;`"),
        }
    }

    /// A word applied to operands; what the Rust compiler says of it is said at `token`.
    pub(super) fn word(
        &mut self,
        token: impl ToTokens,
        function: &str,
        variant: &str,
        operands: Vec<Both>,
    ) -> Both {
        let (ir, lang) = (self.ir(), self.lang());
        let (rust, data) = split(operands);
        let function = syn::Ident::new(function, token.span());
        let variant = hidden(variant);
        Both {
            rust: quote_spanned!(token.span()=> #lang::#function(#(#rust),*)),
            data: quote!(#ir::Expr::Word(#ir::Word::#variant, ::std::vec![#(#data),*])),
        }
    }

    fn cast(&mut self, cast: &ExprCast) -> Both {
        let value = self.expr(&cast.expr);
        let Some((name, scalar)) = self.cast_target(&cast.ty) else { return value };
        let (ir, lang, ty) = (self.ir(), self.lang(), &cast.ty);
        let Both { rust, data } = value;
        let rust = if name == "usize" && !is_literal(&cast.expr) {
            quote_spanned!(ty.span()=> #lang::index(#rust))
        } else {
            quote!((#rust as #ty))
        };
        Both { rust, data: quote!(#ir::Expr::Cast(::std::boxed::Box::new(#data), #scalar)) }
    }

    fn field(&mut self, base: Both, name: &syn::Ident) -> Both {
        let (ir, text) = (self.ir(), text(name));
        let Both { rust, data } = base;
        Both {
            rust: quote!(#rust.#name),
            data: quote!(#ir::Expr::Field(::std::boxed::Box::new(#data), #text)),
        }
    }

    fn index(&mut self, array: &Expr, index: &Expr) -> Both {
        let (array, index) = (self.expr(array), self.expr(index));
        let lang = self.lang();
        let (rust_array, rust_index) = (array.rust, index.rust);
        let rust = quote!((*#lang::at(&#rust_array, #rust_index)));
        self.element(rust, array.data, index.data)
    }

    fn element(
        &mut self,
        rust: proc_macro2::TokenStream,
        array: proc_macro2::TokenStream,
        index: proc_macro2::TokenStream,
    ) -> Both {
        let ir = self.ir();
        Both {
            rust,
            data: quote!(#ir::Expr::Index(
                ::std::boxed::Box::new(#array), ::std::boxed::Box::new(#index),
            )),
        }
    }

    /// What can be assigned to: a variable, a field or an element of one.
    pub(super) fn place(&mut self, place: &Expr) -> Both {
        match place {
            Expr::Group(group) => self.place(&group.expr),
            Expr::Paren(group) => self.place(&group.expr),
            Expr::Path(path) if path.path.get_ident().is_some_and(|name| self.knows(name)) => {
                self.path(path)
            }
            Expr::Field(field) => match &field.member {
                Member::Named(name) => {
                    let base = self.place(&field.base);
                    self.field(base, name)
                }
                Member::Unnamed(_) => self.expr(place),
            },
            Expr::Index(index) => {
                let (array, at) = (self.place(&index.expr), self.expr(&index.index));
                let (lang, rust_array, rust_at) = (self.lang(), array.rust, at.rust);
                // The index first, since it may read the array; but indices go from left to right.
                let rust = if has_index(&index.expr) {
                    quote!((*#lang::at_mut(&mut #rust_array, #rust_at)))
                } else {
                    let at = hidden("at");
                    quote!((*{ let #at = #rust_at; #lang::at_mut(&mut #rust_array, #at) }))
                };
                self.element(rust, array.data, at.data)
            }
            _ => self.refuse(place, "this can't be assigned to; assign to a `let mut` variable, a field or an element of one"),
        }
    }

    fn structure(&mut self, literal: &ExprStruct) -> Both {
        if let Some(rest) = &literal.rest {
            return self.refuse(
                rest,
                "a struct literal here names every field; write out those that `..` stands for",
            );
        }
        let (ir, path) = (self.ir(), &literal.path);
        let ty = self.ty(&Type::Path(syn::TypePath {
            attrs: Vec::new(),
            qself: literal.qself.clone(),
            path: path.clone(),
        }));
        let (mut rust, mut data) = (Vec::new(), Vec::new());
        for field in &literal.fields {
            let Member::Named(name) = &field.member else {
                return self.refuse(
                    &field.member,
                    "fields have names here; use a struct with named fields",
                );
            };
            let (value, text) = (self.expr(&field.expr), text(name));
            let (value_rust, value) = (value.rust, value.data);
            rust.push(match field.colon_token {
                Some(_) => quote!(#name: #value_rust),
                None => quote!(#name),
            });
            data.push(quote!((#text, #value)));
        }
        Both {
            rust: quote!(#path { #(#rust),* }),
            data: quote!(#ir::Expr::Struct(#ty, ::std::vec![#(#data),*])),
        }
    }

    fn repeat(&mut self, element: &Expr, len: &Expr) -> Both {
        let (ir, Both { rust, data }) = (self.ir(), self.expr(element));
        Both {
            rust: quote!([#rust; #len]),
            data: quote!(#ir::Expr::Repeat(::std::boxed::Box::new(#data), #len)),
        }
    }

    fn branch(&mut self, branch: &ExprIf) -> Both {
        let ir = self.ir();
        let (condition, yes) = (self.expr(&branch.cond), self.block(&branch.then_branch));
        let no = branch.else_branch.as_ref().map(|(_, no)| self.body(no));
        let (rust_condition, rust_yes) = (condition.rust, yes.rust);
        let (rust_no, no) = match no {
            Some(Both { rust, data }) => (quote!(else #rust), data),
            None => (quote!(), quote!(#ir::Block::default())),
        };
        let (condition, yes) = (condition.data, yes.data);
        Both {
            rust: quote!(if #rust_condition #rust_yes #rust_no),
            data: quote!(#ir::Expr::If(::std::boxed::Box::new(#condition), #yes, #no)),
        }
    }

    /// What follows `else` or `=>`, as a block.
    fn body(&mut self, expr: &Expr) -> Both {
        if let Expr::Block(block) = expr
            && block.label.is_none()
        {
            return self.block(&block.block);
        }
        let statement = syn::Stmt::Expr(expr.clone(), None);
        self.block(&Block { brace_token: syn::token::Brace::default(), stmts: vec![statement] })
    }

    fn choice(&mut self, choice: &ExprMatch) -> Both {
        let (ir, value) = (self.ir(), self.expr(&choice.expr));
        let (mut rust, mut data) = (Vec::new(), Vec::new());
        for arm in &choice.arms {
            if let syn::Pat::Guard(guarded) = &arm.pat {
                return self.refuse(
                    &guarded.guard,
                    "an arm has no `if` here; put the `if` inside the arm",
                );
            }
            let (pattern, body) = (self.pattern(&arm.pat), self.body(&arm.body));
            let (pattern_rust, body_rust) = (pattern.rust, body.rust);
            let (patterns, body) = (pattern.data, body.data);
            rust.push(quote!(#pattern_rust => #body_rust));
            data.push(quote!(#ir::Arm { patterns: #patterns, body: #body }));
        }
        let (value_rust, value) = (value.rust, value.data);
        Both {
            rust: quote!(match #value_rust { #(#rust)* }),
            data: quote!(#ir::Expr::Match(::std::boxed::Box::new(#value), ::std::vec![#(#data),*])),
        }
    }
}

/// Nodes, as Rust that runs or as Rust that builds them.
type Tokens = Vec<proc_macro2::TokenStream>;

pub(super) fn split(both: Vec<Both>) -> (Tokens, Tokens) {
    both.into_iter().map(|both| (both.rust, both.data)).unzip()
}

fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Group(group) => is_literal(&group.expr),
        Expr::Paren(group) => is_literal(&group.expr),
        _ => false,
    }
}

/// The word behind an operator.
fn infix(operator: &BinOp) -> Option<(&'static str, &'static str)> {
    Some(match operator {
        BinOp::Add(_) => ("add", "Add"),
        BinOp::Sub(_) => ("sub", "Sub"),
        BinOp::Mul(_) => ("mul", "Mul"),
        BinOp::Div(_) => ("div", "Div"),
        BinOp::Rem(_) => ("rem", "Rem"),
        BinOp::BitXor(_) => ("bit_xor", "BitXor"),
        BinOp::BitAnd(_) => ("bit_and", "BitAnd"),
        BinOp::BitOr(_) => ("bit_or", "BitOr"),
        BinOp::Shl(_) => ("shl", "Shl"),
        BinOp::Shr(_) => ("shr", "Shr"),
        BinOp::Eq(_) => ("eq", "Eq"),
        BinOp::Lt(_) => ("lt", "Lt"),
        BinOp::Le(_) => ("le", "Le"),
        BinOp::Ne(_) => ("ne", "Ne"),
        BinOp::Ge(_) => ("ge", "Ge"),
        BinOp::Gt(_) => ("gt", "Gt"),
        _ => return None,
    })
}

/// What to write instead of an expression that isn't in the language.
fn instead_of(expr: &Expr) -> &'static str {
    match expr {
        Expr::While(_) | Expr::Loop(_) => {
            "a loop of the operator language has a constant number of turns; write `for i in 0..N` with an `if` inside"
        }
        Expr::ForLoop(_) | Expr::Assign(_) => {
            "this is a statement; end it with `;` and give the block a value"
        }
        Expr::Return(_) => {
            "there is no `return` in the operator language; make the value the last expression, with `if`/`else` around it"
        }
        Expr::Break(_) | Expr::Continue(_) => {
            "loops run to their end in the operator language; put what follows into an `if`"
        }
        Expr::Closure(_) => {
            "there are no closures in the operator language; write a `#[kogge::device]` function"
        }
        Expr::Reference(_) | Expr::RawAddr(_) => {
            "there are no references in the operator language; pass the value itself"
        }
        Expr::Tuple(_) => {
            "there are no tuples in the operator language; use an array or a `#[derive(kogge::Element)]` struct"
        }
        Expr::Range(_) => "a range stands in a `for` or a pattern here; compare with `<` instead",
        Expr::Let(_) => {
            "there is no `if let` in the operator language; compare with `==`, or `match` on literals"
        }
        Expr::Macro(_) => NO_MACROS,
        Expr::Unsafe(_) => "there is no `unsafe` in the operator language; leave it out",
        Expr::Try(_) => {
            "there is no `?` in the operator language; carry a flag in an integer field instead"
        }
        Expr::Block(_) => "blocks have no labels in the operator language; use `if`/`else`",
        _ => "this is not in the operator language; see the table in `kogge::device`",
    }
}
