//! Statements and blocks.

use super::{Both, Translator, hidden};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprForLoop, Local, Pat, RangeLimits, Stmt};

impl Translator<'_> {
    /// A block, its variables in a scope of their own.
    pub(super) fn block(&mut self, block: &Block) -> Both {
        let depth = self.scope.len();
        let (ir, list) = (self.ir(), hidden("statements"));
        let (mut rust, mut data) = (Vec::new(), Vec::new());
        let mut value = None;
        for (i, statement) in block.stmts.iter().enumerate() {
            let last = i + 1 == block.stmts.len();
            match statement {
                Stmt::Expr(expr, None) if last && !is_statement(expr) => {
                    value = Some(self.expr(expr));
                }
                _ => {
                    let (both, variable) = self.statement(statement);
                    let (statement, build) = (both.rust, both.data);
                    rust.push(statement);
                    data.push(quote!(#list.push(#build); #variable));
                }
            }
        }
        self.scope.truncate(depth);
        let (value, build) = match value {
            Some(Both { rust, data }) => (rust, quote!(Some(::std::boxed::Box::new(#data)))),
            None => (quote!(), quote!(None)),
        };
        Both {
            rust: quote!({ #(#rust)* #value }),
            data: if data.is_empty() {
                quote!(#ir::Block { statements: ::std::vec![], value: #build })
            } else {
                quote!({
                    let mut #list = ::std::vec::Vec::new();
                    #(#data)*
                    #ir::Block { value: #build, statements: #list }
                })
            },
        }
    }

    /// A statement, and the variable that it declares for those after it, if any.
    fn statement(&mut self, statement: &Stmt) -> (Both, Option<TokenStream>) {
        let both = match statement {
            Stmt::Local(local) => return self.local(local),
            Stmt::Expr(expr, _) => self.expression_statement(expr),
            Stmt::Item(item) => self
                .refuse(item, "there are no items within an operator; put it before the function"),
            Stmt::Macro(call) => self.refuse(&call.mac, super::expression::NO_MACROS),
        };
        (both, None)
    }

    fn local(&mut self, local: &Local) -> (Both, Option<TokenStream>) {
        match self.variable(local) {
            Ok((both, variable)) => (both, Some(variable)),
            Err(refused) => (refused, None),
        }
    }

    /// The `let`, and the variable that it declares; or what stands for one that is refused.
    fn variable(&mut self, local: &Local) -> Result<(Both, TokenStream), Both> {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let Pat::Ident(name) = pattern else {
            return Err(self.refuse(
                pattern,
                "a `let` here names one variable; take a value apart with a `let` for each field",
            ));
        };
        if name.by_ref.is_some() || name.subpat.is_some() {
            return Err(self.refuse(pattern, "a `let` here is a name; write `let x = value;`"));
        }
        let Some(init) = &local.init else {
            return Err(self.refuse(
                local,
                "a variable here has a value from the start; write `let x = if … { … } else { … };`",
            ));
        };
        if let Some((_, diverge)) = &init.diverge {
            return Err(self.refuse(diverge, "there is no `let … else` here; write `if`/`else`"));
        }
        let ir = self.ir();
        let value = self.expr(&init.expr);
        let (typed, build) = match ty {
            Some(ty) => {
                let build = self.ty(ty);
                (quote!(: #ty), quote!(Some(#build)))
            }
            None => (quote!(), quote!(None)),
        };
        let (name, variable) = self.declare(&name.ident);
        let Both { rust, data } = value;
        let both = Both {
            rust: quote!(let #pattern #typed = #rust;),
            data: quote!(#ir::Statement::Let { name: #name, ty: #build, value: #data }),
        };
        Ok((both, variable))
    }

    fn expression_statement(&mut self, expr: &Expr) -> Both {
        let ir = self.ir();
        match expr {
            Expr::Assign(assign) => {
                let (value, place) = (self.expr(&assign.right), self.place(&assign.left));
                let (rust_value, rust_place) = (value.rust, place.rust);
                let (value, place) = (value.data, place.data);
                Both {
                    rust: quote!(#rust_place = #rust_value;),
                    data: quote!(#ir::Statement::Assign { place: #place, value: #value }),
                }
            }
            Expr::Binary(binary) if update(&binary.op).is_some() => {
                let (function, variant) = update(&binary.op).unwrap_or_default();
                let (value, place) = (self.expr(&binary.right), self.place(&binary.left));
                let (lang, kept) = (self.lang(), hidden("value"));
                let (function, variant) = (hidden(function), hidden(variant));
                let (rust_value, mut rust_place) = (value.rust, place.rust);
                let (value, place) = (value.data, place.data);
                // An index is evaluated once, after the value. Other places stay as they are,
                // because there is no reference to a packed field.
                let borrow = has_index(&binary.left).then(|| {
                    let reference = hidden("place");
                    let borrow = quote!(let #reference = &mut #rust_place;);
                    rust_place = quote!(*#reference);
                    borrow
                });
                let joined = quote_spanned! {binary.op.span()=>
                    #lang::#function(#rust_place, #kept)
                };
                Both {
                    rust: quote!({ let #kept = #rust_value; #borrow #rust_place = #joined; }),
                    data: quote!(#ir::Statement::Update {
                        place: #place, word: #ir::Word::#variant, value: #value,
                    }),
                }
            }
            Expr::ForLoop(turns) => self.for_loop(turns),
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) => {
                let Both { rust, data } = self.expr(expr);
                Both { rust: quote!(#rust;), data: quote!(#ir::Statement::Expr(#data)) }
            }
            _ if is_refused_statement(expr) => self.expr(expr),
            _ => self.refuse(
                expr,
                "this statement changes nothing; assign its value, or leave out the `;` to return it",
            ),
        }
    }

    fn for_loop(&mut self, turns: &ExprForLoop) -> Both {
        if let Some(label) = &turns.label {
            return self.refuse(
                label,
                "loops have no labels here, because nothing can `break` them; leave it out",
            );
        }
        let Expr::Range(range) = &*turns.expr else {
            return self.refuse(
                &turns.expr,
                "a `for` here counts through a constant range; write `for i in 0..N` and index",
            );
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return self.refuse(range, "a `for` here ends; write both ends of the range: `0..N`");
        };
        let (pattern, name) = match &*turns.pat {
            Pat::Ident(name) => (quote!(#name), Some(&name.ident)),
            Pat::Wild(wild) => (quote!(#wild), None),
            other => {
                return self
                    .refuse(other, "the variable of a `for` is a name; write `for i in 0..N`");
            }
        };
        let (start, end) = (self.bound(start), self.bound(end));
        let (limits, inclusive) = (&range.limits, matches!(range.limits, RangeLimits::Closed(_)));
        let depth = self.scope.len();
        let (name, variable) = match name {
            Some(name) => self.declare(name),
            None => ("_".to_owned(), quote!()),
        };
        let body = self.block(&turns.body);
        self.scope.truncate(depth);
        let ir = self.ir();
        let (first, last, turn) = (start.rust, end.rust, body.rust);
        let (start, end, body) = (start.data, end.data, body.data);
        Both {
            rust: quote!(for #pattern in #first #limits #last #turn),
            data: quote!(#ir::Statement::For {
                name: #name, start: #start, end: #end, inclusive: #inclusive,
                body: { #variable #body },
            }),
        }
    }

    /// A bound of a loop: a literal or a constant.
    fn bound(&mut self, expr: &Expr) -> Both {
        let constant = match expr {
            Expr::Lit(_) => true,
            Expr::Path(path) => path.path.get_ident().is_none_or(|name| !self.knows(name)),
            Expr::Unary(unary) => matches!(&*unary.expr, Expr::Lit(_)),
            Expr::Group(group) => return self.bound(&group.expr),
            Expr::Paren(group) => return self.bound(&group.expr),
            _ => false,
        };
        if constant {
            return self.expr(expr);
        }
        self.refuse(
            expr,
            "the bounds of a `for` are literals or constants here; count to a constant and put an `if` inside",
        )
    }
}

/// Whether an expression without a semicolon is there for what it does.
fn is_statement(expr: &Expr) -> bool {
    match expr {
        Expr::Assign(_) | Expr::ForLoop(_) => true,
        Expr::If(branch) => branch.else_branch.is_none(),
        Expr::Binary(binary) => update(&binary.op).is_some(),
        _ => false,
    }
}

/// Whether the refusal of the expression itself says more.
fn is_refused_statement(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::While(_)
            | Expr::Loop(_)
            | Expr::Return(_)
            | Expr::Break(_)
            | Expr::Continue(_)
            | Expr::Macro(_)
            | Expr::Unsafe(_)
    )
}

/// Whether a place is an element of an array.
pub(super) fn has_index(place: &Expr) -> bool {
    match place {
        Expr::Index(_) => true,
        Expr::Field(field) => has_index(&field.base),
        Expr::Group(group) => has_index(&group.expr),
        Expr::Paren(group) => has_index(&group.expr),
        _ => false,
    }
}

/// The word behind `+=` and its kin.
fn update(operator: &BinOp) -> Option<(&'static str, &'static str)> {
    Some(match operator {
        BinOp::AddAssign(_) => ("add", "Add"),
        BinOp::SubAssign(_) => ("sub", "Sub"),
        BinOp::MulAssign(_) => ("mul", "Mul"),
        BinOp::DivAssign(_) => ("div", "Div"),
        BinOp::RemAssign(_) => ("rem", "Rem"),
        BinOp::BitXorAssign(_) => ("bit_xor", "BitXor"),
        BinOp::BitAndAssign(_) => ("bit_and", "BitAnd"),
        BinOp::BitOrAssign(_) => ("bit_or", "BitOr"),
        BinOp::ShlAssign(_) => ("shl", "Shl"),
        BinOp::ShrAssign(_) => ("shr", "Shr"),
        _ => return None,
    })
}
