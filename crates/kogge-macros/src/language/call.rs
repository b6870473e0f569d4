//! Calls: of functions, of methods, which are words of the language, and of the inner operator.

use super::expression::split;
use super::{Both, Translator, hidden, words};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, Type};

impl Translator<'_> {
    pub(super) fn call(&mut self, call: &ExprCall) -> Both {
        let Expr::Path(path) = &*call.func else {
            return self.refuse(
                &call.func,
                "only functions are called here; call a `#[kogge::device]` function by its name",
            );
        };
        let arguments: Vec<_> = call.args.iter().map(|argument| self.expr(argument)).collect();
        let Some(last) = path.path.segments.last() else {
            return self.refuse(path, "name the function to call");
        };
        let name = last.ident.to_string();
        if let Some(ty) = self.associated_type(&path.path) {
            return self.associated(call, ty, &last.ident, arguments);
        }
        if is_method(&path.path) {
            return self.refuse(
                path,
                format!("a method is called on its first operand here; write `x.{name}(…)`"),
            );
        }
        if path.path.is_ident(&self.function) {
            return self.refuse(path, format!("`{name}` calls itself, which no GPU allows; write a `for` over a constant range"));
        }
        if name.starts_with(char::is_uppercase) {
            return self.refuse(path, format!("`{name}(…)` is not in the operator language; write a struct literal with named fields"));
        }
        if !last.arguments.is_none() || path.qself.is_some() {
            return self.refuse(path, "functions have no type parameters here; write a `#[kogge::device]` function for this type");
        }
        let (ir, krate) = (self.ir(), &self.krate);
        let (rust, data) = split(arguments);
        let function = quote_spanned!(path.span()=>
            <#path as #krate::device::DeviceFunction>::function
        );
        Both {
            rust: quote!(#path(#(#rust),*)),
            data: quote!(#ir::Expr::Call(#ir::Callee::Device(#function), ::std::vec![#(#data),*])),
        }
    }

    /// `f32::from_bits(x)`, or a method written as `f32::max(x, y)`.
    fn associated(
        &mut self,
        call: &ExprCall,
        ty: &syn::Ident,
        name: &syn::Ident,
        mut arguments: Vec<Both>,
    ) -> Both {
        let from_bits = match ty.to_string().as_str() {
            "f32" => Some("F32FromBits"),
            "f64" => Some("F64FromBits"),
            _ => None,
        };
        if let Some(from_bits) = from_bits
            && name == "from_bits"
            && arguments.len() == 1
        {
            let (ir, variant, path) = (self.ir(), hidden(from_bits), &call.func);
            let (rust, data) = split(arguments);
            return Both {
                rust: quote!(#path(#(#rust),*)),
                data: quote!(#ir::Expr::Word(#ir::Word::#variant, ::std::vec![#(#data),*])),
            };
        }
        if name == "from" && words::scalar(&ty.to_string()).is_some() {
            return self.refuse(
                name,
                format!("`{ty}::from` is not in the operator language; write `x as {ty}`"),
            );
        }
        if let Some(first) = arguments.first_mut() {
            *first = self.typed(first, ty);
        }
        self.named_word(name, arguments)
    }

    /// The value, said to be of this type: `{ let operand: ty = value; operand }`.
    fn typed(&mut self, value: &Both, ty: &syn::Ident) -> Both {
        let (ir, operand) = (self.ir(), hidden("operand"));
        let Both { rust, data } = value;
        let built = self.ty(&syn::parse_quote!(#ty));
        // Declared after the value, which so can't mean it.
        let name = "operand";
        Both {
            rust: quote!({ let #operand: #ty = #rust; #operand }),
            data: quote!(#ir::Expr::Block(#ir::Block {
                statements: ::std::vec![
                    #ir::Statement::Let { name: #name, ty: Some(#built), value: #data }
                ],
                value: Some(::std::boxed::Box::new(#ir::Expr::Variable(#name))),
            })),
        }
    }

    /// The type that a path of two segments starts with: a primitive or a type parameter.
    fn associated_type<'p>(&self, path: &'p syn::Path) -> Option<&'p syn::Ident> {
        let first = &path.segments.first().filter(|_| path.segments.len() == 2)?.ident;
        let known = words::scalar(&first.to_string()).is_some() || self.parameters.contains(first);
        known.then_some(first)
    }

    pub(super) fn method(&mut self, call: &ExprMethodCall) -> Both {
        if let Expr::Path(path) = &*call.receiver
            && let Some((inner, element)) = self.inner.clone()
            && path.path.is_ident(&inner)
        {
            return self.combine(call, &element);
        }
        if let Some(turbofish) = &call.turbofish {
            return self.refuse(
                turbofish,
                "functions have no type parameters here; leave out the `::<…>`",
            );
        }
        let mut operands = vec![self.expr(&call.receiver)];
        operands.extend(call.args.iter().map(|argument| self.expr(argument)));
        self.named_word(&call.method, operands)
    }

    fn named_word(&mut self, name: &syn::Ident, operands: Vec<Both>) -> Both {
        let text = name.to_string();
        let Some(word) = words::method(&text) else {
            return self.refuse(name, words::instead_of_method(&text));
        };
        if operands.len() != word.arguments + 1 {
            let (takes, got) = (word.arguments, operands.len().saturating_sub(1));
            return self
                .refuse(name, format!("`.{text}()` takes {takes} argument(s) here, not {got}"));
        }
        self.word(name, word.function, word.variant, operands)
    }

    /// `inner.combine(left, right)` of the operator that this one wraps.
    fn combine(&mut self, call: &ExprMethodCall, element: &Type) -> Both {
        let receiver = &call.receiver;
        if call.method != "combine" || call.args.len() != 2 {
            return self.refuse(
                &call.method,
                "an inner operator has one use here: `.combine(left, right)`",
            );
        }
        let operands: Vec<_> = call.args.iter().map(|argument| self.expr(argument)).collect();
        let (ir, krate) = (self.ir(), &self.krate);
        let (rust, data) = split(operands);
        Both {
            rust: quote!(#krate::Operator::combine(#receiver, #(#rust),*)),
            data: quote!(#ir::Expr::Call(
                #ir::Callee::Combine(::std::boxed::Box::new(
                    #krate::device::DeviceOperator::<#element>::function(#receiver)
                )),
                ::std::vec![#(#data),*],
            )),
        }
    }
}

/// Whether a path names a method by its trait, or `min` or `max` of the standard library.
fn is_method(path: &syn::Path) -> bool {
    let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let [before @ .., last] = names.as_slice() else { return false };
    let of_trait = before.last().is_some_and(|name| name.starts_with(char::is_uppercase));
    let of_std =
        matches!(before, [krate, module] if module == "cmp" && (krate == "std" || krate == "core"));
    (of_trait || of_std) && words::method(last).is_some()
}
