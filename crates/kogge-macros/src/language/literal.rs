//! Literals: numbers with their types, where a suffix names them.

use super::{Both, Translator, hidden, words};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{ExprLit, Lit, LitInt};

impl Translator<'_> {
    pub(super) fn literal(&mut self, literal: &ExprLit, negative: bool) -> Both {
        let ir = self.ir();
        let sign = if negative { quote!(-) } else { quote!() };
        let data = match &literal.lit {
            Lit::Int(int) if int.suffix().starts_with('f') => {
                self.float(int.base10_digits(), int.suffix(), negative)
            }
            Lit::Int(int) => match self.integer(int, negative) {
                Ok(data) => data,
                Err(advice) => return self.refuse(literal, advice),
            },
            Lit::Float(float) => self.float(float.base10_digits(), float.suffix(), negative),
            Lit::Bool(value) => quote!(#ir::Expr::Bool(#value)),
            Lit::Byte(byte) => {
                let value = proc_macro2::Literal::i128_unsuffixed(byte.value().into());
                quote!(#ir::Expr::Integer(#value, Some(#ir::Scalar::U8)))
            }
            Lit::Char(_) => {
                return self.refuse(literal, "there are no characters in the operator language; write a byte, as in `b'x'`, or a number");
            }
            _ => {
                return self.refuse(
                    literal,
                    "there are no strings in the operator language; use integers",
                );
            }
        };
        Both { rust: quote!(#sign #literal), data }
    }

    /// An integer as data, or what to write instead.
    fn integer(&self, int: &LitInt, negative: bool) -> Result<TokenStream, String> {
        if let Some(advice) = words::instead_of_type(int.suffix()) {
            return Err(format!("`{}` is not in the operator language; {advice}", int.suffix()));
        }
        // A literal within a pattern has its sign in it.
        let value = int.base10_parse::<i128>().unwrap_or(i128::MAX);
        if value > i128::from(u64::MAX) {
            let advice = "this literal is larger than any integer here; write at most `u64::MAX`";
            return Err(advice.to_owned());
        }
        let value = if negative { -value } else { value };
        let (ir, suffix) = (self.ir(), self.suffix(int.suffix()));
        let value = proc_macro2::Literal::i128_unsuffixed(value);
        Ok(quote!(#ir::Expr::Integer(#value, #suffix)))
    }

    /// A float as data: its digits, which become bits where its type is known.
    fn float(&self, digits: &str, suffix: &str, negative: bool) -> TokenStream {
        let (ir, suffix) = (self.ir(), self.suffix(suffix));
        let digits = format!("{}{digits}", if negative { "-" } else { "" });
        quote!(#ir::Expr::Float(#digits, #suffix))
    }

    fn suffix(&self, suffix: &str) -> TokenStream {
        let (ir, known) = (self.ir(), words::scalar(suffix));
        match known.map(hidden) {
            Some(variant) => quote!(Some(#ir::Scalar::#variant)),
            None => quote!(None),
        }
    }
}
