//! Patterns of `match`: literals, ranges of them, alternatives, and `_`.

use super::{Both, Translator};
use quote::quote;
use syn::{Expr, Pat, RangeLimits};

impl Translator<'_> {
    /// The pattern, as Rust and as a list of `device::ir::Pattern`: empty for `_`.
    pub(super) fn pattern(&mut self, pattern: &Pat) -> Both {
        let mut data = Vec::new();
        let mut rest = false;
        self.alternatives(pattern, &mut data, &mut rest);
        if rest {
            data.clear();
        }
        Both { rust: quote!(#pattern), data: quote!(::std::vec![#(#data),*]) }
    }

    fn alternatives(
        &mut self,
        pattern: &Pat,
        data: &mut Vec<proc_macro2::TokenStream>,
        rest: &mut bool,
    ) {
        let ir = self.ir();
        match pattern {
            Pat::Wild(_) => *rest = true,
            Pat::Paren(inner) => self.alternatives(&inner.pat, data, rest),
            Pat::Or(or) => or.cases.iter().for_each(|case| self.alternatives(case, data, rest)),
            Pat::Lit(literal) => {
                let value = self.expr(&Expr::Lit(literal.clone())).data;
                data.push(quote!(#ir::Pattern::Value(#value)));
            }
            Pat::Range(range) => match (&range.start, &range.limits, &range.end) {
                (Some(low), RangeLimits::Closed(_), Some(high)) => {
                    let (low, high) = (self.expr(low).data, self.expr(high).data);
                    data.push(quote!(#ir::Pattern::Range(#low, #high)));
                }
                _ => {
                    self.refuse(
                        pattern,
                        "a range in a pattern has both ends here; write `low..=high`",
                    );
                }
            },
            Pat::Ident(_) => {
                self.refuse(pattern, "a `match` here compares with literals; write the literal, or `_` and use the matched value itself");
            }
            _ => {
                self.refuse(pattern, "a `match` here compares with literals; write literals, `low..=high`, alternatives with `|`, and `_`");
            }
        }
    }
}
